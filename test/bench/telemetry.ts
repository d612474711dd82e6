// What telemetry costs an operation: p99 of 200 operations to each broken collector, against the same daemon with telemetry
// off, operation by operation in turns.
import type { GatewayClient } from '../../src/client/client.ts';
import { startBroken } from '../telemetry/broken-collectors.ts';
import { startDaemon } from './daemon.ts';
import type { Bench, Figure } from './figure.ts';

const KINDS = [
  'refused',
  'black-holed',
  'answering 500',
  'answering 429 with Retry-After',
  'answering garbage',
  'sending one byte a second',
  'speaking plain text on https',
];
const OPERATIONS = 200;
const ROUNDS = 9;
const SAMPLED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

export const telemetry: Bench = {
  name: 'telemetry',
  async run() {
    const figures: Figure[] = [];
    for (const kind of KINDS) figures.push(await measure(kind));
    return figures;
  },
};

async function measure(kind: string): Promise<Figure> {
  const broken = await startBroken(kind);
  const [off, on] = [await startDaemon(), await startDaemon()];
  await on.client.call('telemetry.configure', { enabled: true, endpoint: broken.endpoint });
  const p99: { off: number; on: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ms = { off: [] as number[], on: [] as number[] };
    for (let index = 0; index < OPERATIONS; index += 1) {
      // Turn by turn, so that whatever else the machine does hits both alike.
      const operationId = `telemetry-${round}-${index}`;
      ms.off.push(await duration(off.client, operationId));
      ms.on.push(await duration(on.client, operationId));
    }
    // The first round is a warm-up that does not count, with the load of the exporter and the first export in it.
    if (round > 0) p99.push({ off: percentile99(ms.off), on: percentile99(ms.on) });
  }
  await Promise.all([off.stop(), on.stop()]);
  broken.close();
  // The least disturbed round of each: two daemons without telemetry differ by a quarter in the median of these rounds.
  const [onMs, offMs] = [Math.min(...p99.map(({ on }) => on)), Math.min(...p99.map(({ off }) => off))];
  return {
    name: `p99 of an operation, collector ${kind}, of telemetry off`,
    value: onMs / offMs,
    unit: '×',
    limit: { kind: 'max', value: 1.1 },
    detail: `${onMs.toFixed(2)} ms against ${offMs.toFixed(2)} ms`,
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
