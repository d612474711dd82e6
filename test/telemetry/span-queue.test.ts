import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/support/log.ts';
import type { Exporter, ExportOutcome, SpanRecord } from '../../src/telemetry/exporter.ts';
import { createSpanQueue } from '../../src/telemetry/span-queue.ts';
import { createSteppedClock } from '../process/stepped-clock.ts';

const UNAVAILABLE: ExportOutcome = { status: 'unavailable', reason: 'ECONNREFUSED' };
const DONE: ExportOutcome = { status: 'done' };

function record(operationId = 'op'): SpanRecord {
  const common = { kind: 'process.exec', tool: 'exec', target: 'here', traceparent: '', startedAtMs: 0 };
  return { ...common, operationId, durationMs: 1, failed: false };
}

/** A queue to an exporter that answers as told; a batch without an answer stays under way. */
function createKit(answer: () => ExportOutcome | undefined = () => DONE) {
  const clock = createSteppedClock();
  const batches: string[][] = [];
  const lines: string[] = [];
  const say = (message: string): void => void lines.push(message);
  const counts = { exported: 0, dropped: 0 };
  let loads = 0;
  let isClosed = false;
  const exporter: Exporter = {
    export(records) {
      batches.push(records.map(({ operationId }) => operationId));
      const outcome = answer();
      return outcome === undefined ? new Promise(() => {}) : Promise.resolve(outcome);
    },
    close() {
      isClosed = true;
    },
  };
  const queue = createSpanQueue(
    {
      clock,
      counts,
      log: { ...silentLog, warn: say, info: say },
      readFile: () => Promise.reject(new Error('No file')),
      createExporter: async () => {
        loads += 1;
        return exporter;
      },
    },
    {
      collector: { endpoint: 'http://collector.test/v1/traces', headers: [], timeoutMs: 10_000 },
      serviceVersion: '0',
    },
  );
  /** Moves on and lets the exports of that time come to their end. */
  const step = async (ms: number): Promise<void> => {
    clock.step(ms);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) queue.add(record(`op-${index}`));
  };
  return { queue, batches, lines, counts, step, add, loads: () => loads, isClosed: () => isClosed };
}

describe('createSpanQueue()', () => {
  it('loads the exporter with the first batch, a second after its first span', async () => {
    const { queue, batches, step, add, loads, counts } = createKit();
    await step(60_000);
    add(2);
    await step(999);
    expect([loads(), queue.size()]).toEqual([0, 2]);

    await step(1);
    expect(batches).toEqual([['op-0', 'op-1']]);
    expect([loads(), queue.size(), queue.state(), counts.exported]).toEqual([1, 0, 'ok', 2]);
  });

  it('sends a full batch at once and the rest after it', async () => {
    const { batches, step, add, counts } = createKit();
    add(150);
    await step(0);
    await step(0);
    await step(1_000);
    expect(batches.map((batch) => batch.length)).toEqual([64, 64, 22]);
    expect(counts.exported).toBe(150);
  });

  it('has one batch under way, holds 2,048 spans and counts those it drops', async () => {
    const { queue, batches, step, add, counts } = createKit(() => undefined);
    add(1);
    await step(1_000);
    add(3_000);
    await step(600_000);
    expect(batches).toHaveLength(1);
    expect([queue.size(), counts.dropped]).toEqual([2_048, 953]);
  });

  it('pauses after a failure, longer each time up to a minute, and sends the same spans again', async () => {
    const { queue, batches, step, add, counts } = createKit(() => UNAVAILABLE);
    add(1);
    await step(1_000);
    const pausesMs = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
    for (const [index, pauseMs] of pausesMs.entries()) {
      add(600);
      await step(pauseMs - 1);
      expect(batches).toHaveLength(index + 1);
      await step(1);
      expect(batches).toHaveLength(index + 2);
    }
    expect(batches.every(([first]) => first === 'op-0')).toBe(true);
    expect([queue.state(), queue.size(), counts.exported]).toEqual(['failing', 2_048, 0]);
  });

  it.each([
    [30_000, 30_000],
    [0, 1_000],
    [86_400_000, 300_000],
  ])('waits as long as Retry-After asks: of %i ms, %i', async (retryAfterMs, waitedMs) => {
    const { batches, step, add } = createKit(() => ({ ...UNAVAILABLE, retryAfterMs }));
    add(1);
    await step(1_000);
    const asked = batches.length;
    add(1_000);
    await step(waitedMs - 1);
    expect(batches).toHaveLength(asked);
    await step(1);
    expect(batches.length).toBeGreaterThan(asked);
  });

  it('keeps the pause also when nothing was left to send, and goes on afterwards', async () => {
    const { batches, step, add, counts } = createKit(() => ({ status: 'refused', reason: 'status 400' }));
    add(1);
    await step(1_000);
    expect(counts).toEqual({ exported: 0, dropped: 1 });
    await step(600_000);
    add(1);
    await step(1_000);
    expect(batches).toHaveLength(2);
  });

  it('says once that the collector fails, and once that it is back', async () => {
    let outcome: ExportOutcome = UNAVAILABLE;
    const { queue, lines, step, add } = createKit(() => outcome);
    add(1);
    for (let times = 0; times < 5; times += 1) await step(60_000);
    outcome = DONE;
    for (let times = 0; times < 5; times += 1) {
      await step(60_000);
      add(1);
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('fails (ECONNREFUSED)');
    expect(lines[1]).toContain('again');
    expect(queue.state()).toBe('ok');
  });

  it('brings out what is queued when it closes, in fewer requests, and takes nothing afterwards', async () => {
    const { queue, batches, add, counts, isClosed } = createKit();
    add(1_000);
    await queue.close();
    add(1);
    expect(batches.map((batch) => batch.length)).toEqual([512, 488]);
    expect(counts).toEqual({ exported: 1_000, dropped: 1 });
    expect(isClosed()).toBe(true);
  });

  it('gives up at the limit, counts what was left, and breaks off the batch under way', async () => {
    const { queue, add, step, counts, isClosed } = createKit(() => undefined);
    add(3);
    const closed = queue.close();
    await step(1_999);
    expect(isClosed()).toBe(false);
    await step(1);
    await closed;
    expect(counts).toEqual({ exported: 0, dropped: 3 });
    expect(isClosed()).toBe(true);
  });

  it('does not ask a collector that fails once more when it closes', async () => {
    const { queue, batches, add, step, counts } = createKit(() => UNAVAILABLE);
    add(1);
    await step(1_000);
    add(1);
    await queue.close();
    expect(batches).toHaveLength(1);
    expect(counts.dropped).toBe(2);
  });
});
