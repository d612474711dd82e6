// Spans over OTLP/HTTP in protobuf, through OpenTelemetry. Loaded with the first batch: nothing else of burrow imports
// OpenTelemetry. The resource names the service and its version, no detector adds the host or the process to it.

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, type TraceState, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { GATEWAY_NAME } from '../protocol/defaults.ts';
import { type Attempt, openCollectorLine, type Sighting, type TlsFiles } from './collector-watch.ts';
import type {
  CreateExporter,
  Exporter,
  ExporterDeps,
  ExportOutcome,
  SpanRecord,
  TransferOptions,
} from './exporter.ts';

/** OTLP specification, "Failures": the only statuses after which the same spans may be sent again. */
const RETRYABLE_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const EXPORT_SUCCESS = 0;

/** Throws when a PEM file of the collector cannot be read. */
export async function createOtlpExporter(
  deps: ExporterDeps,
  options: Parameters<CreateExporter>[1],
): Promise<Exporter> {
  const { collector } = options;
  const line = openCollectorLine(deps, collector.endpoint, await readTlsFiles(collector, deps));
  const headers = Object.fromEntries(collector.headers.map(([name, value]) => [name, value.reveal()]));
  const toSpans = createSpanMaker(options.serviceVersion);
  let attempt: Attempt | undefined;
  let isClosed = false;
  return {
    async export(records) {
      if (isClosed) return { status: 'unavailable', reason: 'closed' };
      const current = line.startAttempt();
      attempt = current;
      // One for each batch: what an exporter still does about a batch that was given up cannot touch the next one.
      const otlp = new OTLPTraceExporter({
        url: collector.endpoint,
        headers,
        timeoutMillis: collector.timeoutMs,
        httpAgentOptions: () => current.agent,
      });
      const { promise: outOfTime, resolve } = Promise.withResolvers<'late'>();
      const limit = deps.clock.startTimer(collector.timeoutMs, () => resolve('late'), { background: true });
      const end = await Promise.race([send(otlp, toSpans(records)), current.failed, outOfTime]);
      limit.cancel();
      if (end === 'taken') return { status: 'done' };
      current.breakOff();
      return end === 'late' && current.seen.status === undefined
        ? { status: 'unavailable', reason: 'no answer in time' }
        : judge(current.seen);
    },
    close() {
      isClosed = true;
      attempt?.breakOff();
      line.close();
    },
  };
}

/** The error that a failure comes with may quote what the collector sent: it is not looked at. */
function send(otlp: OTLPTraceExporter, spans: ReadableSpan[]): Promise<'taken' | 'failed'> {
  return new Promise((resolve) =>
    otlp.export(spans, ({ code }) => resolve(code === EXPORT_SUCCESS ? 'taken' : 'failed')),
  );
}

function judge({ status, retryAfterMs, errorCode }: Sighting): ExportOutcome {
  if (status === undefined) return { status: 'unavailable', reason: errorCode ?? 'no connection' };
  // It took the batch, whatever became of the rest of its answer.
  if (status >= 200 && status <= 299) return { status: 'done' };
  if (!RETRYABLE_STATUS.has(status)) return { status: 'refused', reason: `status ${status}` };
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { status: 'unavailable', reason: `status ${status}`, ...asked };
}

async function readTlsFiles(
  { caFile, certFile, keyFile }: TransferOptions,
  deps: ExporterDeps,
): Promise<TlsFiles> {
  const entries = { ca: caFile, cert: certFile, key: keyFile };
  const files: TlsFiles = {};
  for (const [name, path] of Object.entries(entries)) {
    if (path !== undefined) files[name as keyof TlsFiles] = await deps.readFile(path);
  }
  return files;
}

/** Spans are made when they leave, from plain records: an operation does not pay for them. */
function createSpanMaker(serviceVersion: string): (records: readonly SpanRecord[]) => ReadableSpan[] {
  let made: ReadableSpan[] = [];
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': GATEWAY_NAME, 'service.version': serviceVersion }),
    spanProcessors: [
      {
        onStart() {},
        onEnd: (span) => void made.push(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const tracer = provider.getTracer(GATEWAY_NAME, serviceVersion);
  return (records) => {
    made = [];
    for (const record of records) {
      const span = tracer.startSpan(record.kind, spanOptions(record), parentOf(record));
      if (record.failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(toHrTime(record.startedAtMs + record.durationMs));
    }
    return made;
  };
}

function spanOptions(
  record: SpanRecord,
): Parameters<ReturnType<TracerProvider['getTracer']>['startSpan']>[1] {
  return {
    kind: SpanKind.SERVER,
    startTime: toHrTime(record.startedAtMs),
    attributes: {
      'burrow.operation.kind': record.kind,
      'burrow.operation.tool': record.tool,
      'burrow.operation.target': record.target,
      'burrow.operation.id': record.operationId,
    },
  };
}

function parentOf({ traceparent, tracestate }: SpanRecord): ReturnType<typeof trace.setSpanContext> {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: verbatim(tracestate) }),
  });
}

/** OpenTelemetry's own would put it in another form. */
function verbatim(text: string): TraceState {
  const state: TraceState = {
    get: () => undefined,
    set: () => state,
    unset: () => state,
    serialize: () => text,
  };
  return state;
}

/** Seconds and nanoseconds since the epoch. */
function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1_000_000)];
}
