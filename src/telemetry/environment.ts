// What the host itself says about telemetry: OTEL_SDK_DISABLED and OTEL_EXPORTER_OTLP_* (OpenTelemetry specification,
// "OpenTelemetry Protocol Exporter"; variables for traces win over the general ones). An endpoint or a switch on the host
// is the whole truth, whatever a controller sends; headers alone are added to those of the controller.

import {
  endpointProblem,
  headersProblem,
  type TelemetryHeaders,
  toTelemetryHeaders,
  tracesUrl,
} from '../protocol/telemetry-params.ts';
import type { Log } from '../support/log.ts';
import type { Collector, TransferOptions } from './exporter.ts';

const DEFAULT_EXPORT_TIMEOUT_MS = 10_000;
const MAX_EXPORT_TIMEOUT_MS = 60_000;

export interface HostTelemetry {
  /** The host switched telemetry off, or named its collector. */
  decides: boolean;
  collector?: Collector;
  headers: TelemetryHeaders;
  transfer: TransferOptions;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A wrong value is logged, without the value, and switches telemetry off: nobody else's collector takes its place. */
export function readHostTelemetry(env: Environment, log: Log): HostTelemetry {
  const off: HostTelemetry = {
    decides: true,
    headers: [],
    transfer: { timeoutMs: DEFAULT_EXPORT_TIMEOUT_MS },
  };
  if (/^true$/i.test(env['OTEL_SDK_DISABLED']?.trim() ?? '')) return off;
  const own = read(env, 'ENDPOINT', 'TRACES_ENDPOINT');
  const headers = readHeaders(env);
  const problems = [
    ['ENDPOINT', own === undefined ? undefined : endpointProblem(own)],
    ['HEADERS', typeof headers === 'string' ? headers : headersProblem(headers)],
  ].filter(([, problem]) => problem !== undefined);
  for (const [name, problem] of problems)
    log.warn(`Telemetry is off: variable OTEL_EXPORTER_OTLP_${name} is not valid. ${problem}`);
  if (problems.length > 0 || typeof headers === 'string') return off;

  const transfer = readTransfer(env);
  const host = { headers: toTelemetryHeaders(headers), transfer };
  if (own === undefined) return { decides: false, ...host };
  // The variable for traces is taken as it is; only the general one is a base.
  const isWhole = read(env, 'TRACES_ENDPOINT') !== undefined;
  const endpoint = isWhole ? new URL(own).href : tracesUrl(own);
  return { decides: true, ...host, collector: { ...transfer, endpoint, headers: host.headers } };
}

/** Of several variables that are set the last wins; blank counts as absent. */
function read(env: Environment, ...names: string[]): string | undefined {
  return names.map((name) => env[`OTEL_EXPORTER_OTLP_${name}`]?.trim() || undefined).findLast(Boolean);
}

function readTransfer(env: Environment): TransferOptions {
  const timeoutMs = Number(read(env, 'TIMEOUT', 'TRACES_TIMEOUT'));
  const files = {
    caFile: read(env, 'CERTIFICATE', 'TRACES_CERTIFICATE'),
    certFile: read(env, 'CLIENT_CERTIFICATE', 'TRACES_CLIENT_CERTIFICATE'),
    keyFile: read(env, 'CLIENT_KEY', 'TRACES_CLIENT_KEY'),
  };
  return {
    timeoutMs: timeoutMs > 0 ? Math.min(timeoutMs, MAX_EXPORT_TIMEOUT_MS) : DEFAULT_EXPORT_TIMEOUT_MS,
    ...Object.fromEntries(Object.entries(files).filter(([, path]) => path !== undefined)),
  };
}

/** `name=value` pairs with commas between them, percent-encoded; a string says what is wrong. */
function readHeaders(env: Environment): [string, string][] | string {
  const headers = new Map<string, string>();
  for (const variable of ['HEADERS', 'TRACES_HEADERS']) {
    for (const pair of (read(env, variable) ?? '').split(',')) {
      if (pair.trim() === '') continue;
      const separator = pair.indexOf('=');
      if (separator < 1) return 'Expected name=value pairs with commas between them';
      try {
        const [name, value] = [pair.slice(0, separator), pair.slice(separator + 1)].map((text) =>
          decodeURIComponent(text.trim()),
        );
        headers.set(name?.toLowerCase() ?? '', value ?? '');
      } catch {
        return 'Expected percent-encoded values';
      }
    }
  }
  return [...headers];
}
