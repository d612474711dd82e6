// One span per executed operation that came with a sampled trace context, posted over OTLP to the collector that is
// configured now. It promises that no collector, however slow or hostile, delays an operation or changes its outcome, and
// that nothing leaves the host but kind, tool, target, operation id, times and whether it failed.
// It never writes to disk, never shows a header value, and loads OpenTelemetry with the first span that is exported.

import type { TelemetryHeaders, TelemetryParams } from '../protocol/telemetry-params.ts';
import type { TraceContext } from '../protocol/trace-context.ts';
import type { Log } from '../support/log.ts';
import type { HostTelemetry } from './environment.ts';
import type { Collector, CreateExporter, ExporterDeps, SpanRecord } from './exporter.ts';
import { createSpanQueue, type SpanCounts, type SpanQueue } from './span-queue.ts';

export { type HostTelemetry, readHostTelemetry } from './environment.ts';

/** Queues of former collectors that are still being emptied; beyond these the spans of the oldest are dropped. */
const MAX_CLOSING_QUEUES = 4;

export interface TelemetryStatus {
  enabled: boolean;
  /** The whole URL that spans are posted to; null while off. */
  endpoint: string | null;
  headersConfigured: boolean;
  source: 'controller' | 'environment';
}

export interface TelemetryHealth extends TelemetryStatus {
  collector: 'unknown' | 'ok' | 'failing';
  queuedSpans: number;
  exportedSpans: number;
  droppedSpans: number;
}

export interface OperationSpan {
  kind: 'process.exec' | 'filesystem.execute';
  /** Never free text of a request. */
  tool: string;
  /** The gateway id. */
  target: string;
  operationId: string;
  traceContext: TraceContext | null;
}

export interface StartedSpan {
  /** Queues the span if telemetry is on by now. Not called for work that never started: there is no span then. */
  end(failed: boolean): void;
}

export interface Telemetry {
  /** In memory only. Changes nothing while the environment of the host decides. */
  configure(params: TelemetryParams): TelemetryStatus;
  health(): TelemetryHealth;
  startOperation(operation: OperationSpan): StartedSpan;
  /** Tries for at most `limitMs` (default 2,000) to bring out what is queued. Nothing is exported afterwards. May be called twice. */
  close(limitMs?: number): Promise<void>;
}

export interface TelemetryDeps extends ExporterDeps {
  log: Log;
  /** Default: OpenTelemetry, loaded when first called. */
  createExporter?: CreateExporter;
}

export interface TelemetryOptions {
  serviceVersion: string;
  host: HostTelemetry;
}

const NO_SPAN: StartedSpan = { end() {} };

export function createTelemetry(deps: TelemetryDeps, options: TelemetryOptions): Telemetry {
  const { host } = options;
  const counts: SpanCounts = { exported: 0, dropped: 0 };
  const closing = new Set<SpanQueue>();
  let collector: Collector | undefined;
  let queue: SpanQueue | undefined;
  let isClosed = false;

  const open = (next: Collector | undefined): void => {
    if (isSameCollector(collector, next)) return;
    if (queue !== undefined) retire(queue, closing);
    collector = next;
    queue =
      next === undefined
        ? undefined
        : createSpanQueue(
            { ...deps, counts, createExporter: deps.createExporter ?? loadExporter },
            { collector: next, serviceVersion: options.serviceVersion },
          );
  };
  const status = (): TelemetryStatus => ({
    enabled: collector !== undefined,
    endpoint: collector?.endpoint ?? null,
    headersConfigured: collector !== undefined && collector.headers.length > 0,
    source: host.decides ? 'environment' : 'controller',
  });

  open(host.collector);
  return {
    configure({ enabled, endpoint, headers }) {
      if (!host.decides && !isClosed) {
        const merged = mergeHeaders(headers, host.headers);
        open(enabled && endpoint !== null ? { ...host.transfer, endpoint, headers: merged } : undefined);
      }
      return status();
    },
    health: () => ({
      ...status(),
      collector: queue?.state() ?? 'unknown',
      queuedSpans: queue?.size() ?? 0,
      exportedSpans: counts.exported,
      droppedSpans: counts.dropped,
    }),
    startOperation(operation) {
      const { traceContext, ...described } = operation;
      // Noted also while telemetry is off: it may be on when the operation ends.
      if (traceContext === null || !isSampled(traceContext)) return NO_SPAN;
      const startedAtMs = deps.clock.wallMs();
      const startedMs = deps.clock.monotonicMs();
      return {
        end(failed) {
          if (queue === undefined || isClosed) return;
          const durationMs = deps.clock.monotonicMs() - startedMs;
          const record: SpanRecord = { ...described, ...traceContext, startedAtMs, durationMs, failed };
          queue.add(record);
        },
      };
    },
    async close(limitMs) {
      isClosed = true;
      const queues = queue === undefined ? closing : [queue, ...closing];
      await Promise.all([...queues].map((each) => each.close(limitMs)));
    },
  };
}

/** OpenTelemetry takes some 10 MiB and as many milliseconds to load: only who exports a span pays for it. */
const loadExporter: CreateExporter = async (deps, options) => {
  const { createOtlpExporter } = await import('./otlp-exporter.ts');
  return createOtlpExporter(deps, options);
};

/** The operations that ended under the former collector are its own. */
function retire(queue: SpanQueue, closing: Set<SpanQueue>): void {
  closing.add(queue);
  void queue.close().then(() => closing.delete(queue));
  const [oldest] = closing;
  if (closing.size > MAX_CLOSING_QUEUES) void oldest?.close(0);
}

function isSampled({ traceparent }: TraceContext): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
}

/** A controller sends its configuration with every connection: the same one again must not disturb what is queued. */
function isSameCollector(a: Collector | undefined, b: Collector | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.endpoint === b.endpoint && headersText(a.headers) === headersText(b.headers);
}

function headersText(headers: TelemetryHeaders): string {
  return JSON.stringify(headers.map(([name, value]) => [name, value.reveal()]));
}

/** Of the same name the host's wins. */
function mergeHeaders(headers: TelemetryHeaders, hostHeaders: TelemetryHeaders): TelemetryHeaders {
  return [...new Map([...headers, ...hostHeaders])];
}
