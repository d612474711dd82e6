// `burrow node run`: one call of a node, or with `--worker` a call for each line of stdin through one process.

import {
  createNodeWorker,
  failureEnvelope,
  invokeNode,
  type NodeWorker,
  type ResultEnvelope,
} from '../octonode/octonode.ts';
import type { Call, Command } from './command.ts';
import { eachLine } from './node-feed.ts';
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

const DEFAULT_CONCURRENCY = 8;
/** Calls taken from stdin for each one in flight, so that a slow first answer does not stop the rest. */
const READ_AHEAD = 8;

export const nodeRunCommand: Command = {
  meta: { name: 'run', description: 'Run a node and print its outputs as one JSON line' },
  takesRest: true,
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
  const { command, cwd, node, timeoutMs: ownTimeoutMs, config } = await nodeTarget(call);
  const inputs = await readInputs(call);
  const timeoutMs = durationFlag(call.flags, 'timeout') ?? ownTimeoutMs;
  const envelope = await invokeNode(command, inputs, {
    ...processOptions(call.system, cwd),
    signal,
    ...(node === undefined ? {} : { node }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(config === undefined ? {} : { context: { config } }),
  });
  const answer = encodeAnswer(envelope, call.flags.envelope === true);
  if (answer.line !== undefined) call.system.stdout.write(answer.line);
  if (call.flags.envelope !== true) reportFailure(answer.envelope, call.system);
  return exitStatusOf(answer.envelope);
}

async function runWorker(call: Call, signal: AbortSignal): Promise<number> {
  const { command, cwd, node, timeoutMs: ownTimeoutMs, config } = await nodeTarget(call);
  const { flags, system } = call;
  const concurrency = countFlag(flags, 'concurrency', DEFAULT_CONCURRENCY);
  const timeoutMs = durationFlag(flags, 'timeout') ?? ownTimeoutMs;
  const worker = createNodeWorker(command, { ...processOptions(system, cwd), concurrency });
  const options = {
    signal,
    ...(node === undefined ? {} : { node }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(config === undefined ? {} : { context: { config } }),
  };
  const print = createPrinter(system, flags.envelope === true);
  await eachLine(
    { system, signal, window: concurrency * READ_AHEAD, isOrdered: flags.unordered !== true },
    {
      start: (line) => callWith(worker, line, options),
      refuse: badLine,
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

/** The line for stdout, undefined for an error that is not printed there; an error when the outputs cannot be written. */
function encodeAnswer(
  envelope: ResultEnvelope,
  asEnvelope: boolean,
): { envelope: ResultEnvelope; line: string | undefined } {
  if (envelope.status === 'error' && !asEnvelope) return { envelope, line: undefined };
  try {
    const value = envelope.status === 'ok' && !asEnvelope ? envelope.outputs : envelope;
    return { envelope, line: `${JSON.stringify(value)}\n` };
  } catch (error) {
    // JSON is read to any depth, but only written to some thousand levels.
    const message = `Answer cannot be printed: ${error instanceof Error ? error.message : String(error)}`;
    const asked = { type: 'invoke', invocationId: envelope.invocationId } as const;
    const failed = failureEnvelope(asked, {
      code: 'RUNTIME_ERROR',
      message,
      retryable: false,
    }) as ResultEnvelope;
    return encodeAnswer(failed, asEnvelope);
  }
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
      const answer = encodeAnswer(envelope, asEnvelope);
      if (answer.envelope.status === 'error') {
        this.failures += 1;
        if (!asEnvelope) reportFailure(answer.envelope, system);
      }
      const line =
        answer.line ??
        `${JSON.stringify({ error: answer.envelope.status === 'error' && answer.envelope.error })}\n`;
      if (system.stdout.write(line) || !system.stdout.writable) return;
      await new Promise((resolve) => system.stdout.once('drain', resolve).once('close', resolve));
    },
  };
}
