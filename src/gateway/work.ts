// Work of either kind (a process, a file tool) between the executor, which knows identity and replay, and the part
// that does it.

import type { BurrowError } from '../protocol/errors.ts';
import type { FittedOutcome } from '../protocol/frame.ts';
import type { TraceContext } from '../protocol/trace-context.ts';
import type { OperationSpan } from '../telemetry/telemetry.ts';
import type { Connection } from './connection.ts';

/** A validated request that has not started. */
export interface PreparedWork {
  /** As given; null means derived from the digest. */
  operationId: string | null;
  carriesProtectedValues: boolean;
  /** How a span names the work: never with a text of the request. */
  span: Pick<OperationSpan, 'kind' | 'tool'>;
  traceContext: TraceContext | null;
  start(ticket: Ticket): RunningWork;
  /** A recorded outcome of this kind for a frame that may be smaller than the one it was made for. */
  refit(outcomeJson: string, maxBytes: number): FittedOutcome;
}

export interface RunningWork {
  cancel(): void;
  /** Cancels without any grace, where there is one. */
  kill?(): void;
  /** Stops reading the output of the work, for a peer that does not keep up. */
  pause(): void;
  resume(): void;
}

/** What started work needs to speak for its operation. Exactly one of the three endings is called, once. */
export interface Ticket {
  operationId: string;
  idJson: string;
  connection: Connection;
  /** Journals the outcome, then answers with it. `failed`: for the span alone. */
  complete(outcomeJson: string, failed: boolean): void;
  /** Journals the outcome for replay although no frame can carry it, then answers with the error. */
  completeUndeliverable(outcomeJson: string, error: BurrowError): void;
  /** The work never started: answers with the error, nothing is journalled. */
  refuse(error: BurrowError): void;
}
