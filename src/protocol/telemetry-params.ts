// The parameters of telemetry.configure, and the rules for endpoints and headers that the host's own variables obey too.
// No message and no issue path repeats a received text: a header name, like its value, may be a misplaced secret.

import * as v from 'valibot';
import { Secret } from '../support/secret.ts';
import {
  MAX_TELEMETRY_ENDPOINT_CHARACTERS,
  MAX_TELEMETRY_HEADER_CHARACTERS,
  MAX_TELEMETRY_HEADERS,
} from './defaults.ts';
import type { BurrowError } from './errors.ts';
import { paramsError } from './issues.ts';

const TRACES_PATH = '/v1/traces';
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a field value can hold on the wire (section 5.5): no control characters but the tab. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They name the receiver, frame the message or belong to one connection, which is the exporter's business. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding', 'connection'],
  ...['keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'expect', 'user-agent'],
]);

/** Names in lower case. */
export type TelemetryHeaders = readonly (readonly [name: string, value: Secret])[];

export interface TelemetryParams {
  enabled: boolean;
  /** Where spans are posted to; null when telemetry is switched off. */
  endpoint: string | null;
  headers: TelemetryHeaders;
}

export type ParsedTelemetryParams =
  | { status: 'ok'; value: TelemetryParams }
  | { status: 'invalid'; error: BurrowError };

export const TelemetryParamsSchema = v.pipe(
  v.object({
    enabled: v.boolean('Expected a boolean'),
    endpoint: v.nullish(
      v.pipe(
        v.string('Expected a string'),
        v.rawCheck(({ dataset, addIssue }) => {
          const message = dataset.typed && dataset.value !== '' ? endpointProblem(dataset.value) : undefined;
          if (message !== undefined) addIssue({ message });
        }),
      ),
    ),
    headers: v.nullish(
      v.pipe(
        v.custom<Record<string, unknown>>(isPlainObject, 'Expected an object of names to strings'),
        v.rawCheck(({ dataset, addIssue }) => {
          const message = dataset.typed ? headersProblem(Object.entries(dataset.value)) : undefined;
          if (message !== undefined) addIssue({ message });
        }),
        v.metadata({ type: 'object', additionalProperties: { type: 'string' } }),
      ),
    ),
  }),
  v.forward(
    v.check(({ enabled, endpoint }) => !enabled || Boolean(endpoint), 'Expected an endpoint'),
    ['endpoint'],
  ),
);

/** Code: `telemetry_config_invalid`, with every wrong field in `issues`. What comes along with `enabled:false` is checked and dropped. */
export function parseTelemetryParams(params: Record<string, unknown>): ParsedTelemetryParams {
  const parsed = v.safeParse(TelemetryParamsSchema, params);
  if (!parsed.success) {
    const fields = ['enabled', 'endpoint', 'headers'].map(
      (field) => [field, 'telemetry_config_invalid'] as const,
    );
    return { status: 'invalid', error: paramsError(parsed.issues, fields) };
  }
  const { enabled, endpoint, headers } = parsed.output;
  if (!enabled || !endpoint) return { status: 'ok', value: { enabled: false, endpoint: null, headers: [] } };
  // Strings all: headersProblem() saw to it.
  const entries = Object.entries(headers ?? {}) as [string, string][];
  return {
    status: 'ok',
    value: { enabled: true, endpoint: tracesUrl(endpoint), headers: toTelemetryHeaders(entries) },
  };
}

export function endpointProblem(text: string): string | undefined {
  if (text.length > MAX_TELEMETRY_ENDPOINT_CHARACTERS)
    return `Expected at most ${MAX_TELEMETRY_ENDPOINT_CHARACTERS} characters`;
  // A URL parser drops line breaks and tabs without a word.
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'Expected a URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Expected a URL of http or https';
  if (url.username !== '' || url.password !== '') return 'Expected a URL without credentials';
  // The endpoint is shown in the status, and a query is a place for keys.
  if (/[?#]/.test(text)) return 'Expected a URL without query and fragment';
  return undefined;
}

/** Of at most 64 headers and 16,384 characters in all. */
export function headersProblem(entries: readonly (readonly [string, unknown])[]): string | undefined {
  if (entries.length > MAX_TELEMETRY_HEADERS) return `Expected at most ${MAX_TELEMETRY_HEADERS} headers`;
  const names = new Set<string>();
  let characters = 0;
  for (const [name, value] of entries) {
    if (typeof value !== 'string') return 'Expected an object of names to strings';
    characters += name.length + value.length;
    if (characters > MAX_TELEMETRY_HEADER_CHARACTERS)
      return `Expected at most ${MAX_TELEMETRY_HEADER_CHARACTERS} characters of headers`;
    if (!TOKEN.test(name)) return "Expected header names of letters, digits and !#$%&'*+-.^_`|~";
    if (!FIELD_VALUE.test(value)) return 'Expected header values without line breaks and control characters';
    const lowerCase = name.toLowerCase();
    if (RESERVED_HEADERS.has(lowerCase)) return 'Expected no Host and no header of framing or connection';
    if (names.has(lowerCase)) return 'Expected each header once';
    names.add(lowerCase);
  }
  return undefined;
}

/** `endpoint` with `/v1/traces` at its end, once. It must be valid. */
export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(TRACES_PATH) ? path : path + TRACES_PATH;
  return url.href;
}

export function toTelemetryHeaders(entries: readonly (readonly [string, string])[]): TelemetryHeaders {
  return entries.map(([name, value]) => [name.toLowerCase(), new Secret(value)] as const);
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
