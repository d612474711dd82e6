// Ended spans on their way to one collector: a bounded queue, one batch under way at a time, pauses that grow while the
// collector fails. At the bound new spans are dropped and counted. The operator is told once when it fails, once when it
// is back; adding a span costs an array push.

import { MAX_QUEUED_SPANS, TELEMETRY_FLUSH_MS } from '../protocol/defaults.ts';
import type { Timer } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type {
  Collector,
  CreateExporter,
  Exporter,
  ExporterDeps,
  ExportOutcome,
  SpanRecord,
} from './exporter.ts';

/** Encoding takes some 30 µs a span, on the thread that serves operations: a batch holds them up for some 2 ms. */
const MAX_BATCH_SPANS = 64;
/** At a stop nobody is held up, and a far collector answers few requests in the time there is. */
const MAX_LAST_BATCH_SPANS = 512;
/** From the first span of a batch to its export: spans come in bursts, requests should not. */
const BATCH_DELAY_MS = 1_000;
/** After a failed export, doubling with each further one. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Longest pause that a collector can ask for; the shortest is FIRST_PAUSE_MS. */
const MAX_RETRY_AFTER_MS = 5 * 60 * 1_000;

/** Shared by all queues of a gateway, for health. */
export interface SpanCounts {
  exported: number;
  /** Did not fit, were refused, or were left over at a stop. */
  dropped: number;
}

export interface SpanQueueDeps extends ExporterDeps {
  log: Log;
  counts: SpanCounts;
  createExporter: CreateExporter;
}

export interface SpanQueue {
  add(record: SpanRecord): void;
  /** Those of a batch under way included. */
  size(): number;
  state(): 'unknown' | 'ok' | 'failing';
  /**
   * Exports what is queued, for at most `limitMs` (default 2,000), then drops the rest. A collector that fails or asked for
   * a pause is not tried again. May be called again, with a shorter limit.
   */
  close(limitMs?: number): Promise<void>;
}

export function createSpanQueue(
  deps: SpanQueueDeps,
  options: { collector: Collector; serviceVersion: string },
): SpanQueue {
  const { clock, counts, log } = deps;
  const { endpoint } = options.collector;
  let records: SpanRecord[] = [];
  let exporter: Promise<Exporter> | undefined;
  let underWay: Promise<ExportOutcome> | undefined;
  let draining: Promise<void> | undefined;
  let timer: Timer | undefined;
  let state: 'unknown' | 'ok' | 'failing' = 'unknown';
  let pauseMs = FIRST_PAUSE_MS;
  let isClosed = false;
  let isDropped = false;

  const wake = (delayMs: number): void => {
    timer?.cancel();
    timer = clock.startTimer(delayMs, exportInBackground, { background: true });
  };
  const exportInBackground = async (): Promise<void> => {
    timer = undefined;
    const outcome = await exportBatch();
    if (isClosed || (records.length === 0 && outcome.status === 'done')) return;
    if (outcome.status === 'done') return wake(records.length < MAX_BATCH_SPANS ? BATCH_DELAY_MS : 0);
    // The pause stands also when nothing is queued: the next span must not knock at once.
    const askedMs = outcome.status === 'unavailable' ? outcome.retryAfterMs : undefined;
    wake(Math.min(Math.max(askedMs ?? pauseMs, FIRST_PAUSE_MS), MAX_RETRY_AFTER_MS));
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  };
  const exportBatch = async (): Promise<ExportOutcome> => {
    const batch = records.slice(0, isClosed ? MAX_LAST_BATCH_SPANS : MAX_BATCH_SPANS);
    if (batch.length === 0) return { status: 'done' };
    underWay = runExport(batch);
    const outcome = await underWay;
    underWay = undefined;
    // It was broken off and is counted already.
    if (isDropped) return outcome;
    if (outcome.status !== 'unavailable') records = records.slice(batch.length);
    if (outcome.status === 'done') counts.exported += batch.length;
    if (outcome.status === 'refused') counts.dropped += batch.length;
    report(outcome);
    return outcome;
  };
  const runExport = async (batch: SpanRecord[]): Promise<ExportOutcome> => {
    try {
      exporter ??= deps.createExporter(deps, options);
      return await (await exporter).export(batch);
    } catch {
      // Such as a CA file that cannot be read. Its message names a path of the host; the next attempt starts anew.
      exporter = undefined;
      return { status: 'unavailable', reason: 'exporter cannot start' };
    }
  };
  const report = (outcome: ExportOutcome): void => {
    if (outcome.status === 'done') {
      if (state === 'failing') log.info(`Telemetry collector "${endpoint}" takes spans again`);
      state = 'ok';
      pauseMs = FIRST_PAUSE_MS;
      return;
    }
    if (state !== 'failing')
      log.warn(
        `Telemetry collector "${endpoint}" fails (${outcome.reason}); operations go on, spans beyond ${MAX_QUEUED_SPANS} are dropped`,
      );
    state = 'failing';
  };
  const drain = async (): Promise<void> => {
    await underWay;
    if (state === 'failing') return;
    while (records.length > 0) {
      if ((await exportBatch()).status !== 'done') return;
    }
  };
  const drop = (): void => {
    isDropped = true;
    counts.dropped += records.length;
    records = [];
    // One that is just loading is closed when it is there.
    void exporter?.then((made) => made.close()).catch(() => {});
  };

  return {
    add(record) {
      if (isClosed || records.length >= MAX_QUEUED_SPANS) {
        counts.dropped += 1;
        return;
      }
      records.push(record);
      if (underWay !== undefined) return;
      if (timer === undefined) wake(BATCH_DELAY_MS);
      // A pause after a failure is kept, however much there is to say.
      else if (records.length === MAX_BATCH_SPANS && state !== 'failing') wake(0);
    },
    size: () => records.length,
    state: () => state,
    async close(limitMs = TELEMETRY_FLUSH_MS) {
      isClosed = true;
      timer?.cancel();
      const { promise: outOfTime, resolve } = Promise.withResolvers<void>();
      const limit = clock.startTimer(limitMs, resolve, { background: true });
      // Called twice, the two must not send the same batch.
      draining ??= drain();
      await Promise.race([draining, outOfTime]);
      limit.cancel();
      drop();
    },
  };
}
