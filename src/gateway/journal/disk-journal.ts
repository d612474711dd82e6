// The journal with files. Outcomes that are ready together go to disk together: while one group is being written the next
// one gathers. A disk that refuses never fails an operation: its outcomes stay in memory, are still replayed, and are
// written once the disk takes them again. The queue is bounded by the number of operations that run at once.
import type { Clock, Timer } from '../../support/clock.ts';
import { ConfigurationError } from '../../support/configuration-error.ts';
import type { Log } from '../../support/log.ts';
import type { Journal, JournalRecord, JournalStatus } from './contract.ts';
import { type Entry, EntryIndex } from './entry-index.ts';
import { errnoOf, type JournalFs } from './journal-fs.ts';
import { JournalStore, type StoreOptions } from './store/store.ts';

/** A group's lines are joined to one write; more than this waits for the next. A single longer outcome goes alone. */
const MAX_GROUP_CHARACTERS = 8 * 1024 * 1024;
/** While the disk refuses it is tried again after this long, also when no operation ends. */
const RETRY_MS = 5_000;
/** Warnings kept for `status()`; the log has all of them. */
const MAX_WARNINGS = 20;

const REMEDIES: Record<string, string> = {
  ENOSPC: 'no space left; free some',
  EDQUOT: 'the quota is used up; free some space',
  EROFS: 'the file system is read-only; mount it writable',
  EACCES: 'permission is denied; give the directory to the user of the daemon',
  EPERM: 'the operation is not permitted; give the directory to the user of the daemon',
  ENOTDIR: 'the path leads through something that is not a directory',
  ENOENT: 'the system makes no files there',
  EIO: 'the disk reports an error; look at the kernel log',
};

export interface DiskJournalDeps {
  clock: Clock;
  log: Log;
  files: JournalFs;
}

interface Pending {
  entry: Entry;
  /** Absent for an outcome that was answered while the disk refused it. */
  done?: (durable: boolean) => void;
}

export class DiskJournal implements Journal {
  readonly #options: StoreOptions;
  readonly #deps: DiskJournalDeps;
  readonly #index: EntryIndex;
  readonly #store: JournalStore;
  readonly #warnings = new Set<string>();
  /** Answered, not on disk. */
  readonly #held = new Set<Entry>();
  #queue: Pending[] = [];
  #draining: Promise<void> | undefined;
  #retry: Timer | undefined;
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: StoreOptions, deps: DiskJournalDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#index = new EntryIndex(deps.clock, options.maxEntries);
    const warn = (message: string): void => this.#warn(message);
    this.#store = new JournalStore(options, { ...deps, index: this.#index, warn });
  }

  /**
   * Takes the files; a journal that cannot is degraded from the start, and tries again. Throws ConfigurationError for foreign
   * files and for a directory that can never work.
   */
  async start(): Promise<void> {
    try {
      await this.#store.take();
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      if (errnoOf(error) !== undefined) await this.#store.readOnly();
      this.#degrade(error);
    }
  }

  digestOf(operationId: string): string | undefined {
    return this.#index.get(operationId)?.requestDigest;
  }

  async read(operationId: string): Promise<string | undefined> {
    const entry = this.#index.get(operationId);
    if (entry === undefined) return undefined;
    try {
      const text = await this.#store.read(entry);
      if (text !== undefined) return text;
      this.#warn('An outcome in the journal was damaged on disk after it was written; it is dropped');
    } catch (error) {
      this.#warn(
        `Cannot read an outcome back from the journal: ${errnoOf(error) ?? String(error)}; it is dropped`,
      );
    }
    this.#index.remove(entry);
    return undefined;
  }

  record(record: JournalRecord, done: (durable: boolean) => void): void {
    const entry: Entry = {
      id: record.operationId,
      requestDigest: record.requestDigest,
      expiresAtMonotonicMs: this.#deps.clock.monotonicMs() + this.#options.ttlMs,
      text: record.outcomeJson,
      location: undefined,
    };
    if (this.#isClosed) {
      this.#index.add(entry);
      done(false);
      return;
    }
    this.#queue.push({ entry, done });
    this.#pump();
  }

  status(): JournalStatus {
    return {
      mode: this.#store.isTaken ? 'disk' : 'memory',
      entries: this.#index.size,
      state: this.#problem === undefined ? 'ok' : 'degraded',
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
      warnings: [...this.#warnings],
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#held.size > 0) this.#tryAgain();
    this.#isClosed = true;
    await this.#draining;
    this.#retry?.cancel();
    await this.#store.close();
    const lost = this.#index.live().filter(({ text }) => text !== undefined).length;
    if (lost === 0) return;
    const outcomes = lost === 1 ? '1 outcome' : `${lost} outcomes`;
    this.#deps.log.warn(`Journal closes without ${outcomes} that the disk refused`);
  }

  #pump(): void {
    this.#draining ??= this.#drain();
  }

  /** What fails here is the journal's problem and not an operation's. */
  async #drain(): Promise<void> {
    // What ends within this turn of the event loop joins the first group.
    await Promise.resolve();
    try {
      do await this.#writeGroup(this.#takeGroup());
      while (this.#queue.length > 0);
    } finally {
      // In the same step as the look at the queue: a record that comes later must find nobody draining.
      this.#draining = undefined;
    }
  }

  async #writeGroup(group: Pending[]): Promise<void> {
    try {
      await this.#store.append(group.map(({ entry }) => entry));
      this.#settle(group, true);
      this.#recover();
      await this.#store.maintain();
    } catch (error) {
      this.#settle(group, false);
      this.#degrade(error);
      await this.#store.reclaim(error).catch((problem: unknown) => this.#degrade(problem));
    }
  }

  #takeGroup(): Pending[] {
    let count = 0;
    for (let characters = 0; count < this.#queue.length; count += 1) {
      characters += this.#queue[count]?.entry.text?.length ?? 0;
      if (count > 0 && characters > MAX_GROUP_CHARACTERS) break;
    }
    return this.#queue.splice(0, count);
  }

  /** An outcome can be replayed from here on and not earlier: before, a replay would promise what is not yet on disk. */
  #settle(group: Pending[], isDurable: boolean): void {
    // Taken out before `done` is called, so that none is called twice whatever a callback does.
    for (let pending = group.shift(); pending !== undefined; pending = group.shift()) {
      const { entry, done } = pending;
      if (isDurable) this.#held.delete(entry);
      else this.#held.add(entry);
      if (done === undefined) continue;
      this.#index.add(entry);
      done(isDurable);
    }
  }

  #recover(): void {
    if (this.#problem === undefined) return;
    this.#requeueHeld();
    if (this.#queue.length > 0) return;
    this.#problem = undefined;
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#deps.log.info('Journal is on disk again; every outcome held in memory is written');
  }

  /** Held outcomes go behind those that still wait for their answer. */
  #requeueHeld(): void {
    for (const entry of this.#held) {
      if (!this.#index.has(entry) || entry.text === undefined) this.#held.delete(entry);
      else if (!this.#queue.some((pending) => pending.entry === entry)) this.#queue.push({ entry });
    }
  }

  #degrade(thrown: unknown): void {
    // While the daemon runs even a directory of the wrong kind may be put right again.
    const error = thrown instanceof ConfigurationError ? (thrown.cause ?? thrown) : thrown;
    const code = errnoOf(error);
    const reason =
      code === undefined
        ? String(error instanceof Error ? error.message : error)
        : `${REMEDIES[code] ?? 'the disk refuses'} (${code})`;
    const unread = this.#store.hasUnread ? ', and not all that it holds can be read' : '';
    const problem = `Cannot keep outcomes in "${this.#options.location.path}": ${reason}; they are held in memory only${unread}`;
    if (problem !== this.#problem) this.#deps.log.warn(problem);
    this.#problem = problem;
    if (this.#isClosed) return;
    this.#retry ??= this.#deps.clock.startTimer(RETRY_MS, () => this.#tryAgain(), { background: true });
  }

  #tryAgain(): void {
    this.#retry = undefined;
    if (this.#isClosed) return;
    this.#requeueHeld();
    this.#pump();
  }

  #warn(message: string): void {
    if (this.#warnings.has(message)) return;
    this.#deps.log.warn(message);
    if (this.#warnings.size < MAX_WARNINGS) this.#warnings.add(message);
  }
}
