// What the engine adds to a bare spawn: a trivial C node, 4 MB each way against `cat`, and what starting ahead saves.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createWarmNode, invokeNode, type NodeCommand } from '../../src/octonode/octonode.ts';
import { compileC, NODES, options } from '../octonode/nodes.ts';
import { type Bench, compare, type Figure } from './figure.ts';

const ROUNDS = 9;
const CALLS = 60;
const LARGE = 'x'.repeat(4 * 1024 * 1024);
const WARM_CALLS = 8;
/** Between two calls of a warm node. */
const PAUSE_MS = 100;
const BURROW = process.env.BURROW_BINARY ?? new URL('../../dist/burrow', import.meta.url).pathname;

export const octonodeProcesses: Bench = {
  name: 'octonode-processes',
  async run() {
    const small = compileC(`${NODES}greet.c`);
    const large = compileC(`${NODES}echo-large.c`);
    const figures = [await oneShot([small.program]), await bigEnvelope([large.program]), await warm()];
    for (const { directory } of [small, large]) rmSync(directory, { recursive: true });
    return figures;
  },
};

async function oneShot(command: NodeCommand): Promise<Figure> {
  const settings = options();
  const request = `{"octonode":"1","type":"invoke","invocationId":"x","inputs":{"name":"Ada"},"context":{"config":{},"attempt":1}}\n`;
  const { a, b, ratio } = await compare(
    ROUNDS,
    () =>
      timed(CALLS, async () => must((await invokeNode(command, { name: 'Ada' }, settings)).status === 'ok')),
    () => timed(CALLS, async () => must((await pipeThrough(command, request)) > 0)),
  );
  return {
    name: 'one-shot call of a C node, of a bare spawn',
    value: ratio,
    unit: '×',
    limit: { kind: 'max', value: 1.15 },
    detail: `${(a / CALLS).toFixed(2)} ms and ${(b / CALLS).toFixed(2)} ms`,
  };
}

async function bigEnvelope(command: NodeCommand): Promise<Figure> {
  const settings = options();
  const { a, b, ratio } = await compare(
    ROUNDS,
    () => timed(5, async () => must((await invokeNode(command, LARGE, settings)).status === 'ok')),
    () => timed(5, async () => must((await pipeThrough(['cat'], LARGE)) === LARGE.length)),
  );
  return {
    name: '4 MB each way, of the same bytes through cat',
    value: ratio,
    unit: '×',
    limit: { kind: 'max', value: 2 },
    detail: `${(a / 5).toFixed(1)} ms and ${(b / 5).toFixed(1)} ms`,
  };
}

async function warm(): Promise<Figure> {
  const command: NodeCommand = [BURROW, 'node', 'host', `${NODES}greet.ts`];
  const settings = options();
  const node = createWarmNode(command, settings);
  const { a, b, ratio } = await compare(
    2,
    () => timed(WARM_CALLS, async () => must((await node.invoke({ name: 'Ada' })).status === 'ok'), PAUSE_MS),
    () =>
      timed(
        WARM_CALLS,
        async () => must((await invokeNode(command, { name: 'Ada' }, settings)).status === 'ok'),
        PAUSE_MS,
      ),
  );
  await node.close();
  return {
    name: 'warm call 100 ms after the last, of a one-shot call (TypeScript)',
    value: ratio,
    unit: '×',
    limit: { kind: 'max', value: 0.3 },
    detail: `${(a / WARM_CALLS).toFixed(1)} ms and ${(b / WARM_CALLS).toFixed(1)} ms`,
  };
}

/** Milliseconds that `count` calls take, one after the other; the pauses before each do not count. */
async function timed(count: number, call: () => Promise<void>, pauseMs = 0): Promise<number> {
  let sumMs = 0;
  for (let index = 0; index < count; index += 1) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const startedAt = performance.now();
    await call();
    sumMs += performance.now() - startedAt;
  }
  return sumMs;
}

/** What anybody would write: spawn, feed, collect, wait. Answers how many bytes came back. */
function pipeThrough([file, ...args]: NodeCommand, text: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.resume();
    child.on('close', () => resolve(Buffer.concat(chunks).length));
    child.stdin.end(text);
  });
}

function must(isTrue: boolean): void {
  if (!isTrue) throw new Error('A benchmarked call failed');
}
