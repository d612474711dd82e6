// `burrow client`: the protocol from a terminal. Each verb sends one request and prints its answer; `exec` prints every
// envelope of the operation as it comes; `raw` relays JSON lines both ways.

import { once } from 'node:events';
import { createGatewayClient, type GatewayClient } from '../client/client.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { createLineSplitter } from '../protocol/json-lines.ts';
import { finishUnlessInterrupted, openPrinting, watchInterruption } from './client-channel.ts';
import { telemetryCommand } from './client-telemetry.ts';
import { type Call, type Command, type Flag, UsageError } from './command.ts';
import { reportEnd } from './evidence-text.ts';
import { EXIT, type System } from './system.ts';
import { runOnTargets, TARGET_FLAGS, type Target, targetHosts } from './target.ts';

const JSON_FLAG: Record<string, Flag> = {
  json: { type: 'boolean', description: 'Print the result as one JSON line' },
};

export const clientCommand: Command = {
  meta: { name: 'client', description: 'Speak the gateway protocol from a terminal' },
  examples: [
    { command: 'burrow client hello', does: 'print name, version and protocol version of a gateway' },
    { command: `burrow client exec '{"command":"date"}'`, does: 'print every envelope of one operation' },
  ],
  subCommands: {
    hello: async () => simple('hello', 'Print name, version and protocol version'),
    health: async () => simple('health', 'Print status, active operations and the state of the journal'),
    exec: async () => exec,
    fs: async () => fs,
    cancel: async () => cancel,
    telemetry: async () => telemetryCommand(ask, { ...JSON_FLAG, ...TARGET_FLAGS }),
    shutdown: async () => simple('shutdown', 'Ask the gateway to stop'),
    raw: async () => raw,
  },
};

const exec: Command = {
  meta: { name: 'exec', description: 'Run process.exec and print every envelope as a JSON line' },
  args: {
    params: {
      type: 'positional',
      description: 'The params of process.exec, as a JSON object',
      valueHint: 'JSON',
    },
    ...TARGET_FLAGS,
  },
  examples: [
    {
      command: `burrow client exec '{"executable":"uname","args":["-a"]}'`,
      does: 'print accepted, streams, terminal and response',
    },
    {
      command: `burrow client exec '{"command":"sleep 9","timeoutMs":500}'`,
      does: 'see the evidence of a timeout',
    },
  ],
  run: (call) =>
    printEnvelopes(call, {
      id: 'exec',
      method: 'process.exec',
      params: parseObject(call.positionals[0] ?? '', `Quote it for the shell: '{"command":"date"}'`),
    }),
};

const fs: Command = {
  meta: { name: 'fs', description: 'Run filesystem.execute and print every envelope as a JSON line' },
  args: {
    tool: { type: 'positional', description: 'The tool, such as files_read', valueHint: 'TOOL' },
    arguments: {
      type: 'positional',
      description: 'The arguments of the tool, as a JSON object',
      valueHint: 'JSON',
    },
    ...TARGET_FLAGS,
  },
  examples: [
    {
      command: `burrow client fs files_read '{"filePath":"/etc/hostname"}'`,
      does: 'print accepted and the response with the outcome',
    },
    {
      command: `burrow client fs files_list '{"dirPath":"/srv","maxDepth":1}'`,
      does: 'list a directory and the ones in it',
    },
  ],
  run: (call) => {
    const [tool = '', text = ''] = call.positionals;
    return printEnvelopes(call, {
      id: 'fs',
      method: 'filesystem.execute',
      params: {
        tool,
        arguments: parseObject(text, `Quote it for the shell: '{"filePath":"/etc/hostname"}'`),
      },
    });
  },
};

const cancel: Command = {
  meta: { name: 'cancel', description: 'Cancel a running operation' },
  args: { id: { type: 'positional', description: 'The operation id' }, ...JSON_FLAG, ...TARGET_FLAGS },
  examples: [
    { command: 'burrow client cancel build-42', does: 'ask for the end of operation build-42' },
    { command: 'burrow client cancel build-42 --json', does: 'print {"operationId","cancelling"}' },
  ],
  run: (call) => ask(call, 'cancel', { operationId: call.positionals[0] }),
};

const raw: Command = {
  meta: { name: 'raw', description: 'Relay JSON lines: requests from stdin, envelopes to stdout' },
  args: TARGET_FLAGS,
  examples: [
    { command: `echo '{"id":1,"method":"health"}' | burrow client raw`, does: 'send one line as it is' },
    { command: 'burrow client raw < requests.jsonl', does: 'send a file of requests' },
  ],
  run: (call) => {
    if (targetHosts(call.flags).length > 1) throw new UsageError('Lines on stdin can go to one host only');
    return runOnTargets(call, relay);
  },
};

async function relay({ system }: Call, { open, stop, abandon, flush }: Target): Promise<number> {
  const interruption = watchInterruption(system);
  const channel = openPrinting(open, system, {
    onHeld: (held) => (held ? system.stdin.pause() : system.stdin.resume()),
  });
  const lines = createLineSplitter({
    maxLineBytes: MAX_FRAME_BYTES,
    onLine: (line) => channel.send(`${line.toString()}\n`),
    onOversized: () =>
      system.stderr.write(`burrow: A line over ${MAX_FRAME_BYTES} bytes was not sent (frame_too_large)\n`),
  });
  system.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  const inputEnded = once(system.stdin, 'end').then(async () => {
    lines.end();
    await channel.close();
    await flush();
  });
  return finishUnlessInterrupted(
    inputEnded.then(() => EXIT.done),
    { interruption, stop, abandon, system },
  );
}

function simple(method: 'hello' | 'health' | 'shutdown', description: string): Command {
  return {
    meta: { name: method, description },
    args: { ...JSON_FLAG, ...TARGET_FLAGS },
    examples: [
      { command: `burrow client ${method}`, does: 'print the answer, one field a line' },
      { command: `burrow client ${method} --json`, does: 'print it as one JSON line' },
    ],
    run: (call) => ask(call, method, {}),
  };
}

function ask(
  call: Call,
  method: string,
  params: Record<string, unknown>,
  pick: (result: Record<string, unknown>) => Record<string, unknown> = (result) => result,
): Promise<number> {
  return runOnTargets(call, async ({ flags, system }, target) => {
    const client: GatewayClient = createGatewayClient(target.open);
    const answer = await client.call(method, params);
    await client.close();
    if (answer.status !== 'ok') return reportEnd(answer, system.stderr);
    const shown = pick(answer.result);
    system.stdout.write(flags['json'] === true ? `${JSON.stringify(shown)}\n` : fieldLines(shown));
    return EXIT.done;
  });
}

function fieldLines(result: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(result)
    .map(([name, value]) => `${name.padEnd(width)}  ${text(value)}\n`)
    .join('');
}

/** Sends one request and prints what comes until its answer. */
function printEnvelopes(
  call: Call,
  request: { id: string; method: string; params: Record<string, unknown> },
): Promise<number> {
  return runOnTargets(call, ({ system }, target) => printFrom(target, request, system));
}

async function printFrom(
  { kind, open, stop, abandon, flush }: Target,
  request: object,
  system: System,
): Promise<number> {
  const interruption = watchInterruption(system);
  let operationId: unknown;
  let isAnswered = false;
  const { promise: answered, resolve } = Promise.withResolvers<string>();
  const channel = openPrinting(open, system, {
    onFrame: (text) => {
      if (text.startsWith('{"type":"accepted"')) operationId = JSON.parse(text).operationId;
      if (/^\{"type":"(response|error)","requestId":"(exec|fs)"/.test(text)) {
        isAnswered = true;
        resolve(text);
      }
    },
    onClosed: (reason) => {
      if (!isAnswered) system.stderr.write(`burrow: No answer: ${reason}\n`);
      resolve(reason);
    },
  });
  channel.send(`${JSON.stringify(request)}\n`);
  const status = answered.then(async (text) => {
    await flush();
    await channel.close();
    return /^\{"type":"response","requestId":"[a-z]+","ok":true,/.test(text) ? EXIT.done : EXIT.unreachable;
  });
  // A private gateway is stopped; one that lives on is asked to cancel this operation.
  const end = async (): Promise<void> => {
    if (kind !== 'private' && operationId !== undefined)
      channel.send(`${JSON.stringify({ id: 'cancel', method: 'cancel', params: { operationId } })}\n`);
    await stop();
    await status;
  };
  return finishUnlessInterrupted(status, { interruption, stop: end, abandon, system });
}

function parseObject(text: string, hint: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Told below, in the same words as a value of the wrong kind.
  }
  throw new UsageError('Argument JSON is not a JSON object', hint);
}
