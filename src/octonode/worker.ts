// A long-lived node: calls share one process and its start-up, many of them in flight at once, answered in any order.

import type { ManifestEnvelope, ResultEnvelope } from './envelopes.ts';
import { type NodeCommand, type NodeProcessOptions, processSettings } from './node-command.ts';
import {
  type Ask,
  type CallOptions,
  describeThrough,
  type InvokeCallOptions,
  invokeThrough,
} from './request.ts';
import { WorkerSupervisor } from './worker-supervisor.ts';

export interface WorkerOptions extends NodeProcessOptions {
  /** Most calls in flight; default 8. */
  concurrency?: number;
  /** Most calls that wait behind them; one more is refused, retryable. Default 10,000. */
  maxQueued?: number;
  /** The process ends this long after its last call; the next call starts another. Default 60 s. */
  idleMs?: number;
}

export interface WorkerStatus {
  state: 'idle' | 'running' | 'waiting_to_restart' | 'given_up' | 'closed';
  pid: number | undefined;
  inFlight: number;
  queued: number;
  /** Processes started so far. */
  starts: number;
  /** Deaths in a row without an answer; 5 give the worker up. */
  quickDeaths: number;
  /** Answers that came after their call was over. */
  lateAnswers: number;
}

export interface NodeWorker {
  /** As `invokeNode`; never rejects. */
  invoke(inputs: unknown, options?: InvokeCallOptions): Promise<ResultEnvelope>;
  describe(options?: CallOptions): Promise<ManifestEnvelope>;
  status(): WorkerStatus;
  /** Refuses new calls, lets the accepted ones end, ends the process's input, then kills. May be called again. */
  close(): Promise<void>;
}

/** A worker that starts its process with the first call. */
export function createNodeWorker(command: NodeCommand, options: WorkerOptions): NodeWorker {
  const settings = processSettings(command, options);
  const worker = new WorkerSupervisor(settings, options);
  const askWith =
    (call: InvokeCallOptions): Ask =>
    (prepared) =>
      worker.ask(prepared, call);
  return {
    invoke: (inputs, call = {}) => invokeThrough(settings, inputs, call, askWith(call)),
    describe: (call = {}) => describeThrough(settings, call, askWith(call)),
    status: () => worker.status(),
    close: () => worker.close(),
  };
}
