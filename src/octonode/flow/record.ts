// What a run leaves behind: one record with the outcome of every node, and the events on the way there. Secrets are masked
// in both.

import type { ResultEnvelope } from '../octonode.ts';

export type NodeFailure = Extract<ResultEnvelope, { status: 'error' }>['error'];

export interface NodeRecord {
  id: string;
  /** The node of the project. */
  node: string;
  status: 'ok' | 'error' | 'cancelled' | 'skipped';
  /** Calls that were made; 0 for a node that never ran. */
  attempts: number;
  /** ISO 8601, of the first attempt. */
  startedAt?: string;
  endedAt?: string;
  durationMs?: number;
  outputs?: unknown;
  error?: NodeFailure;
  /** Why it was skipped. */
  reason?: string;
}

export interface RunRecord {
  runId: string;
  workflow: string;
  env?: string;
  /** `partial`: the policy is `continue`, and some nodes ended well and others did not. */
  status: 'ok' | 'error' | 'partial';
  /** The run was stopped from outside. */
  cancelled?: true;
  startedAt: string;
  endedAt: string;
  durationMs: number;
  inputs: unknown;
  /** In the order of the workflow. */
  nodes: NodeRecord[];
}

export type FlowEvent =
  | { event: 'run.started'; runId: string; workflow: string; env?: string; nodes: number; at: string }
  | { event: 'node.started'; node: string; attempt: number; at: string }
  | { event: 'node.retry'; node: string; attempt: number; delayMs: number; error: NodeFailure; at: string }
  | ({ event: 'node.ended'; at: string } & Pick<
      NodeRecord,
      'status' | 'attempts' | 'durationMs' | 'outputs' | 'error'
    > & {
        node: string;
      })
  | { event: 'node.skipped'; node: string; reason: string; at: string };

/** Of the nodes that nothing follows: `{id: outputs}`, or the outputs alone when there is but one. */
export function outputsOf(record: RunRecord, last: readonly string[]): unknown {
  const ended = record.nodes.filter(({ id, status }) => status === 'ok' && last.includes(id));
  if (last.length === 1) return ended[0]?.outputs;
  return Object.fromEntries(ended.map(({ id, outputs }) => [id, outputs]));
}
