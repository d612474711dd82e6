// The Octonode runner: runs a node (any program that reads one JSON envelope and writes one) in a process of its own.
// It promises that every call resolves with a valid envelope within its deadline and the second and a half that a kill
// may take, whatever the node does, and that nothing is left behind. It never throws and never rejects into its caller.

import type { ManifestEnvelope, ResultEnvelope } from './envelopes.ts';
import {
  type NodeCommand,
  type NodeProcessOptions,
  type ProcessSettings,
  processSettings,
  timeLeftMs,
} from './node-command.ts';
import { OneShotProcess } from './one-shot.ts';
import {
  type Ask,
  type CallOptions,
  describeThrough,
  type InvokeCallOptions,
  invokeThrough,
} from './request.ts';

export type {
  ManifestEnvelope,
  NodeManifest,
  ResultEnvelope,
} from './envelopes.ts';
export { failureEnvelope, OWN_DETAIL_KEYS } from './failures.ts';
export { createNodeDeps, type NodeCommand, type NodeProcessOptions } from './node-command.ts';
export type { InvokeCallOptions } from './request.ts';
export { createWarmNode, type WarmNode, type WarmOptions } from './warm.ts';
export { createNodeWorker, type NodeWorker } from './worker.ts';
export type { WorkerOptions } from './worker-options.ts';

/**
 * The node's result, or one that the engine wrote in its place; never rejects. One process, started for this call.
 * An answer over `maxAnswerBytes` (16 MiB) and a call over `timeoutMs` (30 s) end the process tree.
 */
export function invokeNode(
  command: NodeCommand,
  inputs: unknown,
  options: NodeProcessOptions & InvokeCallOptions,
): Promise<ResultEnvelope> {
  const settings = processSettings(command, options);
  return invokeThrough(settings, inputs, options, askOnce(settings, options));
}

/** The node's manifest, or an error in its place; never rejects. Limits as for `invokeNode`. */
export function describeNode(
  command: NodeCommand,
  options: NodeProcessOptions & CallOptions,
): Promise<ManifestEnvelope> {
  const settings = processSettings(command, options);
  return describeThrough(settings, options, askOnce(settings, options));
}

function askOnce(settings: ProcessSettings, options: InvokeCallOptions): Ask {
  return ({ asked, line }) =>
    new OneShotProcess(settings).ask({
      asked,
      line,
      timeoutMs: timeLeftMs(settings.deps.clock, options.timeoutMs, options.context?.deadlineMs),
      signal: options.signal,
    });
}
