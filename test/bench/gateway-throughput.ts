// Operations a second, one by one and 16 at a time, against a bare child_process.spawn loop of the same Node.js.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { runTrue, startDaemon } from './daemon.ts';
import { type Bench, compare, type Figure } from './figure.ts';

const ROUNDS = 9;
const OPERATIONS = 200;

export const gatewayThroughput: Bench = {
  name: 'throughput',
  async run() {
    const daemon = await startDaemon();
    const bare = startBareLoop();
    let next = 0;
    const throughGateway = async (concurrency: number): Promise<number> => {
      let left = OPERATIONS;
      const start = performance.now();
      await Promise.all(
        Array.from({ length: concurrency }, async () => {
          while (left-- > 0) await runTrue(daemon.client, `bench-${next++}`);
        }),
      );
      return performance.now() - start;
    };
    const figures: Figure[] = [];
    for (const [name, concurrency, limit] of [
      ['one by one', 1, 0.85],
      ['16 at a time', 16, 0.8],
    ] as const) {
      const result = await compare(
        ROUNDS,
        () => bare.run(OPERATIONS, concurrency),
        () => throughGateway(concurrency),
      );
      const perSecond = (ms: number): string => (OPERATIONS / (ms / 1_000)).toFixed(0);
      figures.push({
        name: `operations a second, ${name}, of a bare spawn loop`,
        value: result.ratio,
        unit: '×',
        limit: { kind: 'min', value: limit },
        detail: `${perSecond(result.b)} of ${perSecond(result.a)} a second`,
      });
    }
    bare.stop();
    await daemon.stop();
    return figures;
  },
};

function startBareLoop(): { run(count: number, concurrency: number): Promise<number>; stop(): void } {
  const script = new URL('bare-spawn.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(count, concurrency) {
      child.stdin.write(`${count} ${concurrency}\n`);
      return Number((await lines.next()).value);
    },
    stop: () => child.stdin.end(),
  };
}
