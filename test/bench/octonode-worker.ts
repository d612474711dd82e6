// What a worker saves: one call at a time against one-shot, and pipelined small requests against lines through `cat`.
import { spawn } from 'node:child_process';
import {
  createNodeWorker,
  invokeNode,
  type NodeCommand,
  type NodeWorker,
} from '../../src/octonode/octonode.ts';
import { NODES, options } from '../octonode/nodes.ts';
import { type Bench, compare, type Figure } from './figure.ts';

const BURROW = process.env.BURROW_BINARY ?? new URL('../../dist/burrow', import.meta.url).pathname;
const NODE: NodeCommand = [BURROW, 'node', 'host', `${NODES}echo.ts`];
const PIPELINED = 50_000;
const IN_FLIGHT = 1_024;
const ONE_BY_ONE = 200;
const ONE_SHOTS = 5;

export const octonodeWorker: Bench = {
  name: 'octonode-worker',
  async run() {
    const worker = createNodeWorker(NODE, { ...options(), concurrency: IN_FLIGHT });
    await worker.invoke({ warm: 'up' });
    const figures = [await oneByOne(worker), await pipelined(worker)];
    await worker.close();
    return figures;
  },
};

async function oneByOne(worker: NodeWorker): Promise<Figure> {
  const settings = options();
  const { a, b, ratio } = await compare(
    3,
    () => timed(ONE_SHOTS, async () => must((await invokeNode(NODE, { n: 1 }, settings)).status === 'ok')),
    () => timed(ONE_BY_ONE, async () => must((await worker.invoke({ n: 1 })).status === 'ok')),
  );
  return {
    name: 'one-shot call of a TypeScript node, of a worker call',
    value: ratio,
    unit: '×',
    limit: { kind: 'min', value: 20 },
    detail: `${a.toFixed(1)} ms and ${b.toFixed(3)} ms`,
  };
}

async function pipelined(worker: NodeWorker): Promise<Figure> {
  const cat = startCat();
  const { a, b, ratio } = await compare(
    7,
    () => cat.echo(),
    async () => {
      const startedAt = performance.now();
      let left = PIPELINED;
      const lane = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          must((await worker.invoke({ n: left })).status === 'ok');
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
      return performance.now() - startedAt;
    },
  );
  cat.stop();
  const perSecond = (ms: number): string => (PIPELINED / ms).toFixed(0);
  return {
    name: 'pipelined worker calls a second, of JSON lines through cat',
    value: ratio,
    unit: '×',
    limit: { kind: 'min', value: 0.3 },
    detail: `${perSecond(b)} and ${perSecond(a)} thousand a second, ${IN_FLIGHT} in flight`,
  };
}

/** One Node.js process that sends the same requests to `cat`, as many in flight, and parses each line that comes back. */
function startCat(): { echo(): Promise<number>; stop(): void } {
  const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  const request = (n: number): string =>
    `${JSON.stringify({ octonode: '1', type: 'invoke', invocationId: crypto.randomUUID(), inputs: { n }, context: { config: {}, attempt: 1 } })}\n`;
  return {
    echo() {
      let left = PIPELINED;
      let open = 0;
      let partial = '';
      const startedAt = performance.now();
      const fill = (): void => {
        let batch = '';
        for (; open < IN_FLIGHT && left > 0; open += 1, left -= 1) batch += request(left);
        if (batch !== '') child.stdin.write(batch);
      };
      fill();
      return new Promise((resolve) => {
        const receive = (chunk: Buffer): void => {
          const lines = (partial + chunk.toString()).split('\n');
          partial = lines.pop() ?? '';
          for (const line of lines) must(JSON.parse(line).octonode === '1');
          open -= lines.length;
          fill();
          if (open > 0) return;
          child.stdout.removeListener('data', receive);
          resolve(performance.now() - startedAt);
        };
        child.stdout.on('data', receive);
      });
    },
    stop: () => child.stdin.end(),
  };
}

/** Milliseconds a call. */
async function timed(count: number, call: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) await call();
  return (performance.now() - startedAt) / count;
}

function must(isTrue: boolean): void {
  if (!isTrue) throw new Error('A benchmarked call failed');
}
