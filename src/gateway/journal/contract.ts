// What a journal is, with or without a disk.

export interface JournalRecord {
  operationId: string;
  requestDigest: string;
  /** One line of JSON, as JSON.stringify gives it: no raw newline. */
  outcomeJson: string;
}

export interface JournalStatus {
  /** `memory` also while the files cannot be taken. */
  mode: 'memory' | 'disk';
  entries: number;
  state: 'ok' | 'degraded';
  /** While degraded: what is wrong and what to do, with the errno. */
  problem?: string;
  /** What someone should look at, such as a damaged file that was set aside at the start. At most 20. */
  warnings: string[];
}

export interface Journal {
  /** The request digest of a completed operation that has not expired. Looks at memory only. */
  digestOf(operationId: string): string | undefined;
  /** The outcome's JSON text as recorded; undefined when it expired meanwhile or its bytes are damaged. Never rejects. */
  read(operationId: string): Promise<string | undefined>;
  /**
   * Keeps the outcome; an earlier one of the same id is replaced. `done` is called once, when the outcome can be replayed:
   * with true once it is on disk (in memory-only mode at once, before this returns), with false when the disk refused it.
   */
  record(record: JournalRecord, done: (durable: boolean) => void): void;
  status(): JournalStatus;
  /** Waits for pending outcomes, folds the log, closes the files. May be called twice. */
  close(): Promise<void>;
}
