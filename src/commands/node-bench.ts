// `burrow node bench`: the same call one-shot, warm and through a worker: medians, ratios, bars.

import { createNodeWorker, createWarmNode, invokeNode, type ResultEnvelope } from '../octonode/octonode.ts';
import type { Call, Command } from './command.ts';
import {
  countFlag,
  durationFlag,
  interruptible,
  processOptions,
  readInputs,
  reportFailure,
} from './node-options.ts';
import { nodeTarget, TARGET_ARGS } from './node-target.ts';
import { EXIT } from './system.ts';

const DEFAULT_RUNS = 10;
/** A worker's call is so short that more of them are timed. */
const WORKER_RUNS_FACTOR = 10;
/** Between two warm calls, so that the next process has started; what a caller with some leisure sees. */
const WARM_PAUSE_MS = 100;
const BAR_WIDTH = 32;

interface Row {
  mode: 'one-shot' | 'warm' | 'worker';
  medianMs: number;
  runs: number;
}

export const nodeBenchCommand: Command = {
  meta: { name: 'bench', description: 'Compare one-shot, warm and worker calls of a node' },
  takesRest: true,
  usage: 'burrow node bench [OPTIONS] (FILE | ID | -- CMD [ARGS...])',
  args: {
    ...TARGET_ARGS,
    inputs: {
      type: 'string',
      valueHint: 'JSON|@FILE|-',
      description: 'The inputs of every call (default {})',
    },
    runs: {
      type: 'string',
      valueHint: 'N',
      description: 'Calls timed in each mode (default 10; ten times as many of the worker)',
    },
    json: { type: 'boolean', description: 'Print the medians as one JSON line' },
  },
  examples: [
    { command: `burrow node bench greet.ts --inputs '{"name":"Ada"}'`, does: 'see what a worker would save' },
    { command: 'burrow node bench --runs 30 --json -- ./greet', does: 'print medians in milliseconds' },
  ],
  run: (call) => interruptible(call.system, (signal) => bench(call, signal)),
};

async function bench(call: Call, signal: AbortSignal): Promise<number> {
  const { system, flags } = call;
  const { command, cwd, node, timeoutMs: ownTimeoutMs } = await nodeTarget(call);
  const inputs = await readInputs(call);
  const runs = countFlag(flags, 'runs', DEFAULT_RUNS);
  const timeoutMs = durationFlag(flags, 'timeout') ?? ownTimeoutMs;
  const process = processOptions(system, cwd);
  const options = {
    signal,
    ...(node === undefined ? {} : { node }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const warm = createWarmNode(command, process);
  const worker = createNodeWorker(command, process);
  const pause = (): Promise<void> =>
    new Promise((resolve) => void system.clock.startTimer(WARM_PAUSE_MS, resolve));
  const measure = (
    mode: Row['mode'],
    invoke: () => Promise<ResultEnvelope>,
    between?: () => Promise<void>,
  ): Promise<Row | ResultEnvelope> =>
    measureMode({
      mode,
      runs: mode === 'worker' ? runs * WORKER_RUNS_FACTOR : runs,
      invoke,
      between,
      nowMs: system.clock.monotonicMs,
    });

  const measured: (Row | ResultEnvelope)[] = [];
  measured.push(await measure('one-shot', () => invokeNode(command, inputs, { ...process, ...options })));
  if (isRow(measured[0])) {
    measured.push(await measure('warm', () => warm.invoke(inputs, options), pause));
    measured.push(await measure('worker', () => worker.invoke(inputs, options)));
  }
  await Promise.all([warm.close(), worker.close()]);
  const rows = measured.filter(isRow);
  system.stdout.write(flags.json === true ? `${JSON.stringify(toJson(rows))}\n` : chart(rows));
  const failed = measured.find((outcome): outcome is ResultEnvelope => !isRow(outcome));
  if (failed !== undefined) reportFailure(failed, system);
  return failed === undefined ? EXIT.done : EXIT.failed;
}

interface Measurement {
  mode: Row['mode'];
  runs: number;
  invoke: () => Promise<ResultEnvelope>;
  between: (() => Promise<void>) | undefined;
  nowMs: () => number;
}

/** The median, or the first answer that is an error. One call that is not timed goes first. */
async function measureMode({
  mode,
  runs,
  invoke,
  between,
  nowMs,
}: Measurement): Promise<Row | ResultEnvelope> {
  const times: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    await between?.();
    const startedAtMs = nowMs();
    const envelope = await invoke();
    if (envelope.status === 'error') return envelope;
    if (run > 0) times.push(nowMs() - startedAtMs);
  }
  times.sort((a, b) => a - b);
  return { mode, runs, medianMs: times[Math.floor(times.length / 2)] ?? 0 };
}

function isRow(outcome: Row | ResultEnvelope | undefined): outcome is Row {
  return outcome !== undefined && 'medianMs' in outcome;
}

function toJson(rows: readonly Row[]): object {
  return Object.fromEntries(
    rows.map(({ mode, medianMs, runs }) => [mode, { medianMs: Number(medianMs.toFixed(3)), runs }]),
  );
}

function chart(rows: readonly Row[]): string {
  const slowestMs = Math.max(...rows.map(({ medianMs }) => medianMs));
  const baseMs = rows[0]?.medianMs ?? 0;
  return rows
    .map(({ mode, medianMs, runs }) => {
      const bar = '█'.repeat(Math.round((medianMs / slowestMs) * BAR_WIDTH)) || '▏';
      const factor = (baseMs / medianMs).toFixed(1);
      return `${mode.padEnd(9)} ${medianMs.toFixed(2).padStart(9)} ms  ${bar.padEnd(BAR_WIDTH)}  ${factor}x  (median of ${runs})\n`;
    })
    .join('');
}
