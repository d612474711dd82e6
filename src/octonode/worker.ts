// A long-lived node: calls share one process and its start-up, many of them in flight at once, answered in any order.

import type { ManifestEnvelope, ResultEnvelope } from './envelopes.ts';
import { type NodeCommand, processSettings } from './node-command.ts';
import {
  type Ask,
  type CallOptions,
  describeThrough,
  type InvokeCallOptions,
  invokeThrough,
} from './request.ts';
import type { WorkerOptions, WorkerStatus } from './worker-options.ts';
import { WorkerSupervisor } from './worker-supervisor.ts';

export interface NodeWorker {
  /** As `invokeNode`; never rejects. */
  invoke(inputs: unknown, options?: InvokeCallOptions): Promise<ResultEnvelope>;
  describe(options?: CallOptions): Promise<ManifestEnvelope>;
  status(): WorkerStatus;
  /** Refuses new calls, lets the accepted ones end, ends the process's input, then kills. May be called again. */
  close(): Promise<void>;
  /** As `close`, but what is accepted fails as cancelled at once and the process tree is killed. */
  abandon(): Promise<void>;
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
    abandon: () => worker.abandon(),
  };
}
