// What telemetry costs an operation: p99 of 200 operations to each broken collector, against the same daemon with telemetry
// off, operation by operation in turns. The first figure compares two daemons without telemetry: it is the noise of the rest.
import type { GatewayClient } from '../../src/client/client.ts';
import { startBroken } from '../telemetry/broken-collectors.ts';
import { startDaemon } from './daemon.ts';
import { type Bench, type Figure, median } from './figure.ts';

const KINDS = [
  'refused',
  'black-holed',
  'answering 500',
  'answering 429 with Retry-After',
  'redirecting',
  'answering garbage',
  'sending one byte a second',
  'speaking plain text on https',
];
const OPERATIONS = 200;
/** A p99 is the second largest of 200: alone it says more of the machine than of the daemon. */
const ROUNDS = 24;
const SAMPLED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

export const telemetry: Bench = {
  name: 'telemetry',
  async run() {
    const figures = [await measure('p99 of an operation, telemetry off, of another daemon with it off')];
    for (const kind of KINDS) {
      const broken = await startBroken(kind);
      const name = `p99 of an operation, collector ${kind}, of telemetry off`;
      figures.push(await measure(name, broken.endpoint));
      broken.close();
    }
    return figures;
  },
};

/** Without an endpoint telemetry is off on both sides. */
async function measure(name: string, endpoint?: string): Promise<Figure> {
  const [off, on] = [await startDaemon(), await startDaemon()];
  if (endpoint !== undefined) await on.client.call('telemetry.configure', { enabled: true, endpoint });
  const p99: { off: number; on: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ms = { off: [] as number[], on: [] as number[] };
    for (let index = 0; index < OPERATIONS; index += 1) {
      const operationId = `telemetry-${round}-${index}`;
      const runOff = async (): Promise<number> => ms.off.push(await duration(off.client, operationId));
      const runOn = async (): Promise<number> => ms.on.push(await duration(on.client, operationId));
      // Turn by turn, so that whatever else the machine does hits both alike.
      for (const run of index % 2 === 0 ? [runOff, runOn] : [runOn, runOff]) await run();
    }
    // The first round is a warm-up that does not count, with the load of the exporter and the first export in it.
    if (round > 0) p99.push({ off: percentile99(ms.off), on: percentile99(ms.on) });
  }
  await Promise.all([off.stop(), on.stop()]);
  const of = (side: 'off' | 'on'): string => median(p99.map((each) => each[side])).toFixed(2);
  return {
    name,
    value: median(p99.map((each) => each.on / each.off)),
    unit: '×',
    limit: { kind: 'max', value: 1.1 },
    detail: `${of('on')} ms against ${of('off')} ms`,
  };
}

/** Milliseconds of one operation. */
async function duration(client: GatewayClient, operationId: string): Promise<number> {
  const start = performance.now();
  const answer = await client.execute('process.exec', {
    operationId,
    executable: '/bin/true',
    traceContext: SAMPLED,
  });
  const durationMs = performance.now() - start;
  if (answer.status !== 'ok') throw new Error(`Operation failed: ${JSON.stringify(answer)}`);
  return durationMs;
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}
