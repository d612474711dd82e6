// What is seen of a run while it goes on: JSON lines for a program; for a person a line for each thing that went wrong, and
// on a terminal one line that says where the run is.

import type { FlowEvent, FlowPlan, RunRecord } from '../octonode/flow/flow.ts';
import { formatDurationMs } from '../support/durations.ts';
import { createStatusLine } from './status-line.ts';
import type { System } from './system.ts';

/** Names of running nodes on the status line; a terminal shows no more. */
const MAX_SHOWN = 6;

export interface FlowView {
  event(event: FlowEvent): void;
  /** Whole lines for stderr. */
  write(lines: string): void;
  end(record: RunRecord): void;
}

export function createFlowView(
  system: System,
  { plan, isJson }: { plan: FlowPlan; isJson: boolean },
): FlowView {
  const line = createStatusLine(system);
  const running = new Set<string>();
  let ended = 0;
  let failed = 0;
  const refresh = (): void => {
    const names = [...running].slice(0, MAX_SHOWN).join('  ');
    const bad = failed === 0 ? '' : `  ${failed} failed`;
    line.show(`flow ${plan.workflowId} ${ended}/${plan.steps.length}${bad}  ${names}`);
  };
  const write = (lines: string): void => {
    line.clear();
    system.stderr.write(lines);
  };
  const tell = (event: FlowEvent): void => {
    const text = describe(event);
    if (text !== undefined) write(`${text.replace(/\p{Cc}/gu, ' ')}\n`);
  };
  return {
    event(event) {
      if (isJson) return void system.stdout.write(`${jsonText(event)}\n`);
      if (event.event === 'node.started') running.add(event.node);
      if (event.event === 'node.retry' || event.event === 'node.ended') running.delete(event.node);
      if (event.event === 'node.ended' || event.event === 'node.skipped') ended += 1;
      if (event.event === 'node.ended' && event.status !== 'ok') failed += 1;
      tell(event);
      refresh();
    },
    write(lines) {
      write(lines);
      if (!isJson && running.size > 0) refresh();
    },
    end(record) {
      line.clear();
      if (isJson) system.stdout.write(`${jsonText({ event: 'run.ended', ...record })}\n`);
      else if (record.status !== 'ok' || system.stderr.isTTY === true) system.stderr.write(summary(record));
    },
  };
}

/** JSON, also of values that are nested too deeply to be written: those are left out, and it says so. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch {
    const short = (key: string, part: unknown): unknown =>
      ['outputs', 'inputs', 'details'].includes(key) ? '(nested too deeply to be written)' : part;
    return JSON.stringify(value, short, indent);
  }
}

function describe(event: FlowEvent): string | undefined {
  if (event.event === 'node.retry') {
    const { node, attempt, delayMs, error } = event;
    return `retry      ${node}  attempt ${attempt + 1} in ${formatDurationMs(delayMs)}: ${error.code}: ${error.message}`;
  }
  if (event.event !== 'node.ended' || event.error === undefined || event.status !== 'error') return undefined;
  const tries = event.attempts > 1 ? ` (attempt ${event.attempts})` : '';
  return `failed     ${event.node}  ${event.error.code}: ${event.error.message}${tries}`;
}

function summary({ workflow, status, nodes, durationMs }: RunRecord): string {
  const counts = (['ok', 'error', 'cancelled', 'skipped'] as const)
    .map((kind) => ({ kind, count: nodes.filter((node) => node.status === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`);
  return `flow ${workflow}: ${status} in ${formatDurationMs(durationMs)} (${counts.join(', ')})\n`;
}
