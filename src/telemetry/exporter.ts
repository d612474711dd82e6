// What the queue needs from an exporter: a batch goes out, and one of three things became of it.

import type { TelemetryHeaders } from '../protocol/telemetry-params.ts';
import type { Clock } from '../support/clock.ts';

/** How spans travel: set by the host alone. */
export interface TransferOptions {
  /** Longest wait for one batch, repetitions included. */
  timeoutMs: number;
  /** PEM files for https. */
  caFile?: string;
  certFile?: string;
  keyFile?: string;
}

export interface Collector extends TransferOptions {
  /** The whole URL. */
  endpoint: string;
  headers: TelemetryHeaders;
}

/** An operation that ended, with everything that leaves the host about it. */
export interface SpanRecord {
  kind: string;
  tool: string;
  target: string;
  operationId: string;
  /** Valid, version 00. */
  traceparent: string;
  tracestate?: string;
  /** Wall clock. */
  startedAtMs: number;
  durationMs: number;
  failed: boolean;
}

export type ExportOutcome =
  | { status: 'done' }
  /** The collector does not want this batch, now or later. `reason` is a status or a code, never a received text. */
  | { status: 'refused'; reason: string }
  /** It could be taken later; `retryAfterMs` when the collector said when. */
  | { status: 'unavailable'; reason: string; retryAfterMs?: number };

export interface Exporter {
  /** Never rejects. One call at a time. */
  export(records: readonly SpanRecord[]): Promise<ExportOutcome>;
  /** Breaks off an export that runs, and closes connections. */
  close(): void;
}

export interface ExporterDeps {
  clock: Clock;
  /** For the PEM files that the host names. */
  readFile(path: string): Promise<Buffer>;
}

export type CreateExporter = (
  deps: ExporterDeps,
  options: { collector: Collector; serviceVersion: string },
) => Promise<Exporter>;
