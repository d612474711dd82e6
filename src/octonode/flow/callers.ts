// How the steps of one run reach their programs: a process for each call, or one worker for all steps with the same
// command and directory. Each worker starts with its first call and ends with the run.

import {
  createNodeDeps,
  createNodeWorker,
  type InvokeCallOptions,
  invokeNode,
  type NodeManifest,
  type NodeProcessOptions,
  type NodeWorker,
  type ResultEnvelope,
} from '../octonode.ts';
import { isHosted, runnableCommand } from '../scan/file-command.ts';
import type { PlanStep } from './plan.ts';

export interface CallerOptions {
  env: Readonly<Record<string, string>>;
  /** What starts burrow itself. */
  own: readonly [string, ...string[]];
  /** Most calls under way at once. */
  jobs: number;
  mask: (text: string) => string;
  onStderr: (step: PlanStep, chunk: Buffer) => void;
  onWarning: (sentence: string) => void;
}

export interface Callers {
  /** As `invokeNode`; never rejects. */
  invoke(step: PlanStep, inputs: unknown, call: InvokeCallOptions): Promise<ResultEnvelope>;
  /** Resolves when no process is left. `now` kills what still runs. */
  close(now: boolean): Promise<void>;
}

export function createCallers(options: CallerOptions): Callers {
  const deps = createNodeDeps();
  const workers = new Map<string, NodeWorker>();
  const processOf = (step: PlanStep): NodeProcessOptions => ({
    cwd: step.cwd,
    env: options.env,
    deps,
    mask: options.mask,
    onStderr: (chunk) => options.onStderr(step, chunk),
    onWarning: options.onWarning,
  });
  const workerOf = (step: PlanStep): NodeWorker => {
    const key = JSON.stringify([step.command, step.cwd]);
    const known = workers.get(key);
    if (known !== undefined) return known;
    const command = runnableCommand(step.command, options.own);
    // Whoever calls bounds what is in flight; the worker never lets a call wait and its deadline run.
    const worker = createNodeWorker(command, { ...processOf(step), concurrency: options.jobs });
    workers.set(key, worker);
    return worker;
  };
  return {
    invoke(step, inputs, call) {
      const manifest = manifestOf(step);
      const options_ = { ...call, node: step.target, ...(manifest === undefined ? {} : { manifest }) };
      if (step.mode === 'worker') return workerOf(step).invoke(inputs, options_);
      return invokeNode(runnableCommand(step.command, options.own), inputs, {
        ...processOf(step),
        ...options_,
      });
    },
    async close(now) {
      await Promise.all([...workers.values()].map((worker) => (now ? worker.abandon() : worker.close())));
    },
  };
}

/** What the engine checks inputs and outputs against; nothing for files that burrow hosts, which check their own. */
function manifestOf({ entry, command }: PlanStep): NodeManifest | undefined {
  const { signature } = entry;
  if (signature === undefined || signature === null || isHosted(command)) return undefined;
  const { inputs, outputs, defaults, service } = signature;
  if (inputs === undefined && outputs === undefined && service === undefined) return undefined;
  // The signature is the recorded part of the manifest; its schemas are checked where they are used.
  return {
    id: entry.id,
    language: signature.language ?? 'unknown',
    inputs,
    outputs,
    defaults,
    service,
  } as NodeManifest;
}
