import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { Secret } from '../../src/support/secret.ts';
import { createTelemetry, readHostTelemetry } from '../../src/telemetry/telemetry.ts';
import { until } from '../e2e/daemon.ts';
import { createAuthority } from '../transport/tls/certificates.ts';
import { startBroken, startTls } from './broken-collectors.ts';
import { SAMPLED, startCollector, UNSAMPLED } from './collector.ts';

const OPERATION = { kind: 'process.exec', tool: 'exec', target: 'here', traceContext: SAMPLED } as const;

function create(env: Record<string, string> = {}) {
  const lines: string[] = [];
  const say = (message: string): void => void lines.push(message);
  const telemetry = createTelemetry(
    { clock: systemClock, log: { ...silentLog, info: say, warn: say }, readFile: (path) => readFile(path) },
    { serviceVersion: '1.2.3', host: readHostTelemetry(env, silentLog) },
  );
  onTestFinished(() => telemetry.close(0));
  return {
    telemetry,
    lines,
    run: (operationId = 'op') => telemetry.startOperation({ ...OPERATION, operationId }).end(false),
    send: (endpoint: string, headers: [string, Secret][] = []) =>
      telemetry.configure({ enabled: true, endpoint: `${endpoint}/v1/traces`, headers }),
  };
}

describe('createTelemetry()', () => {
  it('exports what was started before it was configured and ends after', async () => {
    const collector = await startCollector();
    const { telemetry, send } = create();
    const span = telemetry.startOperation({ ...OPERATION, operationId: 'early' });
    send(collector.url);
    span.end(false);
    await telemetry.close();
    expect(collector.spans().map(({ attributes }) => attributes['burrow.operation.id'])).toEqual(['early']);
  });

  it('exports nothing for an unsampled parent or none, and nothing after it was closed', async () => {
    const collector = await startCollector();
    const { telemetry, send, run } = create();
    send(collector.url);
    telemetry.startOperation({ ...OPERATION, operationId: 'a', traceContext: UNSAMPLED }).end(false);
    telemetry.startOperation({ ...OPERATION, operationId: 'b', traceContext: null }).end(false);
    await telemetry.close();
    run();
    await telemetry.close();
    expect(collector.requests).toEqual([]);
  });

  it('keeps what is queued when the same configuration comes again', async () => {
    const collector = await startCollector();
    const { telemetry, send, run } = create();
    send(collector.url, [['x-key', new Secret('a')]]);
    run();
    send(collector.url, [['x-key', new Secret('a')]]);
    expect(telemetry.health().queuedSpans).toBe(1);
    send(collector.url, [['x-key', new Secret('b')]]);
    expect(telemetry.health().queuedSpans).toBe(0);
    await telemetry.close();
    expect(collector.requests.map(({ headers }) => headers['x-key'])).toEqual(['a']);
  });

  it('sends more operations than fit a batch, over one connection, and counts them', async () => {
    const collector = await startCollector();
    const { telemetry, send, run } = create();
    send(collector.url);
    for (let index = 0; index < 1_200; index += 1) run(`op-${index}`);
    await telemetry.close();
    expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBe(1_200);
    expect(telemetry.health()).toMatchObject({ exportedSpans: 1_200, droppedSpans: 0 });
  });

  it('lets the host add headers to a controller’s collector, its own first', async () => {
    const collector = await startCollector();
    const { telemetry, send, run } = create({ OTEL_EXPORTER_OTLP_HEADERS: 'x-a=host' });
    const headers: [string, Secret][] = [
      ['x-a', new Secret('controller')],
      ['x-b', new Secret('controller')],
    ];
    expect(send(collector.url, headers)).toMatchObject({ source: 'controller', headersConfigured: true });
    run();
    await telemetry.close();
    expect(collector.requests[0]?.headers).toMatchObject({ 'x-a': 'host', 'x-b': 'controller' });
  });

  it.each([
    ['refused', /ECONNREFUSED/],
    ['black-holed', /no answer in time/],
    ['answering 500', /status 500/],
    ['answering 429 with Retry-After', /status 429/],
    ['redirecting', /status 307/],
    ['answering garbage', /HPE_\w+/],
    ['sending one byte a second', /no answer in time/],
    ['hanging up', /ECONNRESET/],
    ['speaking plain text on https', /EPROTO|ERR_SSL_\w+|ECONNRESET/],
  ])('fails with a collector that is %s, and says so in words of its own', async (kind, reason) => {
    const broken = await startBroken(kind);
    onTestFinished(broken.close);
    const { telemetry, lines, send, run } = create({ OTEL_EXPORTER_OTLP_TIMEOUT: '400' });
    send(broken.endpoint);
    run();
    await until('it failed', () => telemetry.health().collector === 'failing');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(reason);
  });

  it.each(['answering a garbage body', 'never ending its answer'])(
    'counts as exported what a collector took that is %s',
    async (kind) => {
      const broken = await startBroken(kind);
      onTestFinished(broken.close);
      const { telemetry, send, run } = create({ OTEL_EXPORTER_OTLP_TIMEOUT: '400' });
      send(broken.endpoint);
      run();
      await until('it was taken', () => telemetry.health().collector === 'ok');
      expect(telemetry.health()).toMatchObject({ exportedSpans: 1, queuedSpans: 0 });
    },
  );

  it('follows no redirect', async () => {
    const target = await startCollector();
    const collector = await startCollector((response) =>
      response.writeHead(307, { location: `${target.url}/v1/traces` }).end(),
    );
    const { telemetry, lines, send, run } = create();
    send(collector.url);
    run();
    await until('it failed', () => telemetry.health().collector === 'failing');
    expect(lines[0]).toContain('status 307');
    expect(telemetry.health()).toMatchObject({ droppedSpans: 1, queuedSpans: 0 });
    expect(target.requests).toEqual([]);
  });

  it('knocks once while Retry-After lasts, and once more when it is over', async () => {
    const collector = await startCollector((response) =>
      response.writeHead(429, { 'retry-after': '2' }).end(),
    );
    const { telemetry, send, run } = create();
    send(collector.url);
    run();
    await until('it was asked', () => collector.requests.length === 1);
    const askedAt = performance.now();
    const runner = setInterval(run, 20);
    onTestFinished(() => clearInterval(runner));
    await until('it was asked again', () => collector.requests.length === 2);
    expect(performance.now() - askedAt).toBeGreaterThan(1_900);
    expect(telemetry.health().droppedSpans).toBe(0);
  });

  it('trusts a certificate by the authority that the host names alone', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'burrow-telemetry-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const authority = createAuthority(directory);
    const collector = await startTls(authority.issue('collector'));
    onTestFinished(collector.close);
    for (const [env, state] of [
      [{}, 'failing'],
      [{ OTEL_EXPORTER_OTLP_CERTIFICATE: join(directory, 'missing.pem') }, 'failing'],
      [{ OTEL_EXPORTER_OTLP_CERTIFICATE: authority.certFile }, 'ok'],
    ] as const) {
      const { telemetry, lines, send, run } = create(env);
      send(collector.endpoint);
      run();
      await until('it was tried', () => telemetry.health().collector !== 'unknown');
      expect([telemetry.health().collector, ...lines]).toEqual([
        state,
        ...(state === 'ok' ? [] : [expect.stringMatching(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|cannot start/)]),
      ]);
    }
  });
});
