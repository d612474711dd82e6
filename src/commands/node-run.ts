// `burrow node run`: one call of a node, or with `--worker` a call for each line of stdin through one process.

import {
  createNodeWorker,
  failureEnvelope,
  invokeNode,
  type NodeWorker,
  type ResultEnvelope,
} from '../octonode/octonode.ts';
import { createLineSplitter } from '../protocol/json-lines.ts';
import type { Call, Command } from './command.ts';
import {
  countFlag,
  durationFlag,
  exitStatusOf,
  interruptible,
  processOptions,
  readInputs,
  reportFailure,
} from './node-options.ts';
import { nodeTarget, TARGET_ARGS } from './node-target.ts';
import { EXIT, type System } from './system.ts';

const MAX_INPUT_LINE_BYTES = 64 * 1024 * 1024;
const DEFAULT_CONCURRENCY = 8;
/** Calls taken from stdin for each one in flight, so that a slow first answer does not stop the rest. */
const READ_AHEAD = 8;

export const nodeRunCommand: Command = {
  meta: { name: 'run', description: 'Run a node and print its outputs as one JSON line' },
  usage: 'burrow node run [OPTIONS] (FILE | ID | -- CMD [ARGS...])',
  args: {
    ...TARGET_ARGS,
    inputs: {
      type: 'string',
      valueHint: 'JSON|@FILE|-',
      description: 'The inputs: JSON, a file, or stdin (default {})',
    },
    envelope: { type: 'boolean', description: 'Print the whole response envelope, also for an error' },
    worker: {
      type: 'boolean',
      description: 'Read inputs from stdin, one JSON value a line; one process answers all',
    },
    unordered: { type: 'boolean', description: 'With --worker: print each result as it comes' },
    concurrency: {
      type: 'string',
      valueHint: 'N',
      description: 'With --worker: most calls in flight (default 8)',
    },
  },
  examples: [
    {
      command: `burrow node run greet.ts --inputs '{"name":"Ada"}'`,
      does: 'run a TypeScript node; nothing needs to be installed',
    },
    {
      command: 'burrow node run --worker --envelope greet < inputs.jsonl',
      does: 'run a node of .octonode for each line',
    },
  ],
  run: (call) =>
    interruptible(call.system, (signal) =>
      call.flags.worker === true ? runWorker(call, signal) : runOnce(call, signal),
    ),
};

async function runOnce(call: Call, signal: AbortSignal): Promise<number> {
  const { command, cwd, node } = nodeTarget(call);
  const inputs = await readInputs(call);
  const timeoutMs = durationFlag(call.flags, 'timeout');
  const envelope = await invokeNode(command, inputs, {
    ...processOptions(call.system, cwd),
    signal,
    ...(node === undefined ? {} : { node }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const asEnvelope = call.flags.envelope === true;
  if (asEnvelope) call.system.stdout.write(`${JSON.stringify(envelope)}\n`);
  else if (envelope.status === 'ok') call.system.stdout.write(`${JSON.stringify(envelope.outputs)}\n`);
  else reportFailure(envelope, call.system);
  return exitStatusOf(envelope);
}

async function runWorker(call: Call, signal: AbortSignal): Promise<number> {
  const { command, cwd, node } = nodeTarget(call);
  const { flags, system } = call;
  const concurrency = countFlag(flags, 'concurrency', DEFAULT_CONCURRENCY);
  const timeoutMs = durationFlag(flags, 'timeout');
  const worker = createNodeWorker(command, { ...processOptions(system, cwd), concurrency });
  const options = {
    signal,
    ...(node === undefined ? {} : { node }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const print = createPrinter(system, flags.envelope === true);
  await eachLine(
    { system, signal, window: concurrency * READ_AHEAD, isOrdered: flags.unordered !== true },
    {
      start: (line) => callWith(worker, line, options),
      print: (envelope) => print.envelope(envelope),
    },
  );
  await worker.close();
  return print.failures === 0 ? EXIT.done : EXIT.failed;
}

function callWith(
  worker: NodeWorker,
  line: Buffer,
  options: Parameters<NodeWorker['invoke']>[1],
): Promise<ResultEnvelope> {
  let inputs: unknown;
  try {
    inputs = JSON.parse(line.toString('utf8'));
  } catch {
    return Promise.resolve(badLine('Input line is not JSON'));
  }
  return worker.invoke(inputs, options);
}

function badLine(message: string): ResultEnvelope {
  const error = { code: 'VALIDATION_ERROR', message, retryable: false } as const;
  return failureEnvelope({ type: 'invoke', invocationId: 'unknown' }, error) as ResultEnvelope;
}

interface Printer {
  failures: number;
  envelope(envelope: ResultEnvelope): Promise<void>;
}

/** One line on stdout for each result, an error included; waits for a slow reader. */
function createPrinter(system: System, asEnvelope: boolean): Printer {
  return {
    failures: 0,
    async envelope(envelope) {
      if (envelope.status === 'error') {
        this.failures += 1;
        if (!asEnvelope) reportFailure(envelope, system);
      }
      const value = asEnvelope
        ? envelope
        : envelope.status === 'ok'
          ? envelope.outputs
          : { error: envelope.error };
      if (system.stdout.write(`${JSON.stringify(value)}\n`) || !system.stdout.writable) return;
      await new Promise((resolve) => system.stdout.once('drain', resolve).once('close', resolve));
    },
  };
}

interface Feed {
  system: System;
  signal: AbortSignal;
  /** Most calls that are started and not printed; stdin waits beyond that. */
  window: number;
  isOrdered: boolean;
}

interface FeedSteps {
  start(line: Buffer): Promise<ResultEnvelope>;
  print(envelope: ResultEnvelope): Promise<void>;
}

/** Resolves when every line of stdin is answered and printed, or the signal came and what ran is printed. */
function eachLine({ system, signal, window, isOrdered }: Feed, { start, print }: FeedSteps): Promise<void> {
  const { stdin } = system;
  let open = 0;
  let printed: Promise<void> = Promise.resolve();
  const take = (answered: Promise<ResultEnvelope>): void => {
    open += 1;
    if (open >= window) stdin.pause();
    const before = printed;
    const own = isOrdered ? before.then(() => answered).then(print) : answered.then(print);
    printed = Promise.all([before, own]).then(() => undefined);
    void own.then(() => {
      open -= 1;
      if (open < window) stdin.resume();
    });
  };
  const lines = createLineSplitter({
    maxLineBytes: MAX_INPUT_LINE_BYTES,
    onLine: (line) => take(start(line)),
    onOversized: () =>
      take(Promise.resolve(badLine(`Input line is longer than ${MAX_INPUT_LINE_BYTES} bytes`))),
  });
  return new Promise((resolve, reject) => {
    const end = (): void => {
      stdin.pause();
      lines.end();
      printed.then(resolve, reject);
    };
    stdin.on('data', (chunk: Buffer) => lines.push(chunk));
    stdin.once('end', end);
    stdin.once('error', end);
    signal.addEventListener('abort', end, { once: true });
    // Nobody reads any more (`| head`): what is left of the input is not run.
    system.stdout.once('close', end);
  });
}
