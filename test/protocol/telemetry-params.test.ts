import { describe, expect, it } from 'vitest';
import { parseTelemetryParams } from '../../src/protocol/telemetry-params.ts';

const ENDPOINT = 'http://collector.test:4318';

function accepted(params: Record<string, unknown>) {
  const parsed = parseTelemetryParams(params);
  if (parsed.status === 'invalid') throw parsed.error;
  return parsed.value;
}

function refused(params: Record<string, unknown>) {
  const parsed = parseTelemetryParams(params);
  if (parsed.status === 'ok') throw new Error('Accepted');
  return parsed.error;
}

describe('parseTelemetryParams()', () => {
  it.each([
    [ENDPOINT, `${ENDPOINT}/v1/traces`],
    [`${ENDPOINT}/`, `${ENDPOINT}/v1/traces`],
    [`${ENDPOINT}/v1/traces`, `${ENDPOINT}/v1/traces`],
    [`${ENDPOINT}/v1/traces/`, `${ENDPOINT}/v1/traces`],
    [`${ENDPOINT}/otlp/`, `${ENDPOINT}/otlp/v1/traces`],
    [`${ENDPOINT}/otlp/v1/traces`, `${ENDPOINT}/otlp/v1/traces`],
    ['HTTPS://Collector.test', 'https://collector.test/v1/traces'],
    ['http://[::1]:4318', 'http://[::1]:4318/v1/traces'],
  ])('makes of endpoint %s the URL %s', (endpoint, url) => {
    expect(accepted({ enabled: true, endpoint })).toMatchObject({ enabled: true, endpoint: url });
  });

  it('keeps header values behind a mask, names in lower case', () => {
    const { headers } = accepted({
      enabled: true,
      endpoint: ENDPOINT,
      headers: { Authorization: 'Bearer 1=2, ü' },
    });
    expect(headers.map(([name, value]) => [name, value.reveal()])).toEqual([
      ['authorization', 'Bearer 1=2, ü'],
    ]);
    expect(JSON.stringify(headers)).not.toContain('Bearer');
  });

  it.each([
    [{ enabled: false }],
    [{ enabled: false, endpoint: null, headers: null }],
    [{ enabled: false, endpoint: '' }],
    [{ enabled: false, endpoint: ENDPOINT, headers: { a: 'b' } }],
  ])('switches off with %j', (params) => {
    expect(accepted(params)).toEqual({ enabled: false, endpoint: null, headers: [] });
  });

  it.each<[path: string, params: Record<string, unknown>]>([
    ['params.enabled', {}],
    ['params.enabled', { enabled: 'true', endpoint: ENDPOINT }],
    ['params.endpoint', { enabled: true }],
    ['params.endpoint', { enabled: true, endpoint: '' }],
    ['params.endpoint', { enabled: true, endpoint: 4318 }],
    ...[
      'collector.test:4318',
      '/v1/traces',
      'ftp://collector.test',
      'file:///etc/passwd',
      'grpc://collector.test',
      'http://user:secret@collector.test',
      'http://secret@collector.test',
      'http://:secret@collector.test',
      'http://collector.test?key=secret',
      'http://collector.test/#secret',
      'http://collector.test/?',
      ' http://collector.test',
      'http://collector.\r\ntest/secret',
      'http://collector.test/\tsecret',
      `http://collector.test/${'x'.repeat(2_048)}`,
    ].map((endpoint): [string, Record<string, unknown>] => ['params.endpoint', { enabled: true, endpoint }]),
    ['params.endpoint', { enabled: false, endpoint: 'ftp://collector.test' }],
    ...[
      [],
      'x=secret',
      { a: 1 },
      { a: null },
      { 'a\r\nsecret': 'b' },
      { 'a b': 'secret' },
      { 'a:': 'secret' },
      { '': 'secret' },
      { ü: 'secret' },
      { a: 'secret\r\nHost: evil' },
      { a: 'secret\n' },
      { a: 'secret\0' },
      { a: 'secret€' },
      { Host: 'secret' },
      { host: 'secret' },
      { 'Content-Length': '1' },
      { 'transfer-encoding': 'chunked' },
      { 'X-Key': 'secret', 'x-key': 'secret' },
      Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, ''])),
      { a: 'x'.repeat(16_384) },
    ].map((headers): [string, Record<string, unknown>] => [
      'params.headers',
      { enabled: true, endpoint: ENDPOINT, headers },
    ]),
  ])('refuses at %s what %j says, and does not repeat it', (path, params) => {
    const error = refused(params);
    expect(error.code).toBe('telemetry_config_invalid');
    expect(error.details.issues?.map((issue) => issue.path)).toEqual([path]);
    expect(JSON.stringify([error.message, error.details])).not.toContain('secret');
  });
});
