import { describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../../src/support/log.ts';
import { readHostTelemetry } from '../../src/telemetry/telemetry.ts';

const OTLP = 'OTEL_EXPORTER_OTLP';
const BASE = 'http://collector.test:4318';

function read(env: Record<string, string>, log: Log = silentLog) {
  const { decides, collector, headers, transfer } = readHostTelemetry(env, log);
  const plain = headers.map(([name, value]) => `${name}: ${value.reveal()}`);
  return { decides, endpoint: collector?.endpoint, headers: plain, transfer };
}

describe('readHostTelemetry()', () => {
  it.each([
    [{}],
    [{ OTEL_SDK_DISABLED: 'false' }],
    [{ OTEL_SDK_DISABLED: '' }],
    [{ [`${OTLP}_ENDPOINT`]: ' ' }],
    [{ OTEL_SERVICE_NAME: 'x' }],
  ])('leaves the decision to the controller with %j', (env) => {
    expect(read(env)).toEqual({
      decides: false,
      endpoint: undefined,
      headers: [],
      transfer: { timeoutMs: 10_000 },
    });
  });

  it.each([
    [{ [`${OTLP}_ENDPOINT`]: BASE }, `${BASE}/v1/traces`],
    [{ [`${OTLP}_ENDPOINT`]: `${BASE}/v1/traces` }, `${BASE}/v1/traces`],
    [{ [`${OTLP}_TRACES_ENDPOINT`]: `${BASE}/own` }, `${BASE}/own`],
    [{ [`${OTLP}_TRACES_ENDPOINT`]: `${BASE}/own`, [`${OTLP}_ENDPOINT`]: 'http://other' }, `${BASE}/own`],
  ])('decides with %j for %s', (env, endpoint) => {
    expect(read(env)).toMatchObject({ decides: true, endpoint });
  });

  it.each([['true'], ['TRUE']])('decides against telemetry with OTEL_SDK_DISABLED=%s', (text) => {
    const env = { OTEL_SDK_DISABLED: text, [`${OTLP}_ENDPOINT`]: BASE };
    expect(read(env)).toMatchObject({ decides: true, endpoint: undefined });
  });

  it('reads percent-encoded headers, those for traces over the general ones, and how spans travel', () => {
    const env = {
      [`${OTLP}_HEADERS`]: 'x-a=1%2C2, X-B=general',
      [`${OTLP}_TRACES_HEADERS`]: 'x-b=for=traces',
      [`${OTLP}_TIMEOUT`]: '5000',
      [`${OTLP}_CERTIFICATE`]: '/ca.pem',
    };
    expect(read(env)).toEqual({
      decides: false,
      endpoint: undefined,
      headers: ['x-a: 1,2', 'x-b: for=traces'],
      transfer: { timeoutMs: 5_000, caFile: '/ca.pem' },
    });
  });

  it.each([
    ['ENDPOINT', 'http://user:secret@collector.test'],
    ['ENDPOINT', 'secret'],
    ['HEADERS', 'secret'],
    ['HEADERS', 'Host=secret'],
    ['HEADERS', 'x=secret%0d%0aHost: evil'],
    ['HEADERS', 'x=%secret'],
  ])('is off with a bad %s (%s), says so once and not the value', (name, value) => {
    const lines: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void lines.push(message) };
    expect(read({ [`${OTLP}_${name}`]: value }, log)).toMatchObject({ decides: true, endpoint: undefined });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${OTLP}_${name}`);
    expect(lines[0]).not.toContain('secret');
  });
});
