import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GATEWAY_NAME } from '../../src/protocol/defaults.ts';
import { BROKEN_KINDS, startBroken } from '../telemetry/broken-collectors.ts';
import {
  type Collector,
  PARENT_ID,
  SAMPLED,
  startCollector,
  TRACE_ID,
  takes,
  UNSAMPLED,
} from '../telemetry/collector.ts';
import { burrow, type Daemon, startDaemon, temporaryDirectory, until } from './daemon.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const TRUE = { executable: '/bin/true' };

async function configure(daemon: Daemon, params: object): Promise<object> {
  const { result, error } = await daemon.ask('telemetry.configure', params);
  return result ?? error;
}

async function startWith(collector: Collector, args: readonly string[] = []): Promise<Daemon> {
  const daemon = startDaemon({ args, env: { BURROW_GATEWAY_ID: 'host-7' } });
  await configure(daemon, { enabled: true, endpoint: collector.url });
  return daemon;
}

function health(daemon: Daemon): Promise<Record<string, unknown>> {
  return daemon.ask('health').then(({ result }) => result.telemetry);
}

describe('one span', () => {
  it('joins the trace of its parent, and says kind, tool, target and operation id alone', async () => {
    const collector = await startCollector();
    const daemon = await startWith(collector);
    const tracestate = 'vendor=a:b/c, tenant@sys=1';
    const before = Date.now();

    await daemon.exec({ ...TRUE, operationId: 'op-1', traceContext: { ...SAMPLED, tracestate } });

    const [request] = await until('spans came', () => collector.requests.length > 0 && collector.requests);
    expect(request).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/x-protobuf' },
    });
    const [span, ...others] = collector.spans();
    expect(others).toEqual([]);
    expect(span).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      traceState: tracestate,
      name: 'process.exec',
      kind: 'SPAN_KIND_SERVER',
      events: [],
      links: [],
    });
    expect(span?.attributes).toEqual({
      'burrow.operation.kind': 'process.exec',
      'burrow.operation.tool': 'exec',
      'burrow.operation.target': 'host-7',
      'burrow.operation.id': 'op-1',
    });
    expect(span?.resource).toEqual({ 'service.name': GATEWAY_NAME, 'service.version': version });
    expect(span?.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect((span?.flags ?? 0) & 1).toBe(1);
    expect(span?.status.message ?? '').toBe('');
    expect(span?.startMs).toBeGreaterThanOrEqual(before - 1);
    expect(span?.endMs).toBeGreaterThanOrEqual(span?.startMs ?? Number.NaN);
    expect(await health(daemon)).toMatchObject({ collector: 'ok', exportedSpans: 1, droppedSpans: 0 });
  });

  it.each([
    ['process.exec', { command: 'exit 3' }, 'shell', 'STATUS_CODE_ERROR'],
    ['process.exec', { command: 'true' }, 'shell', undefined],
    ['filesystem.execute', { tool: 'files_list', arguments: { dirPath: '/' } }, 'files_list', undefined],
    [
      'filesystem.execute',
      { tool: 'files_read', arguments: { filePath: '/nowhere' } },
      'files_read',
      'STATUS_CODE_ERROR',
    ],
    ['filesystem.execute', { tool: 'free text', arguments: {} }, 'unknown', 'STATUS_CODE_ERROR'],
  ])('of %s %j has tool %s and status %s', async (method, params, tool, code) => {
    const collector = await startCollector();
    const daemon = await startWith(collector);
    await daemon.ask(method, { ...params, traceContext: SAMPLED });
    daemon.end();
    await daemon.ended;

    const [span] = collector.spans();
    expect(span).toMatchObject({ name: method, attributes: { 'burrow.operation.tool': tool } });
    expect([undefined, 'STATUS_CODE_UNSET'].includes(span?.status.code) ? undefined : span?.status.code).toBe(
      code,
    );
  });

  it('is made for what was executed: no replay, conflict, refusal, failed start, unsampled or missing parent', async () => {
    const collector = await startCollector();
    const daemon = await startWith(collector);
    const traced = { traceContext: SAMPLED };
    await daemon.exec({ ...TRUE, operationId: 'once', ...traced });
    const answers = [
      await daemon.exec({ ...TRUE, operationId: 'once', ...traced }),
      await daemon.exec({ executable: '/bin/false', operationId: 'once', ...traced }),
      await daemon.exec({ ...TRUE, timeoutMs: -1, ...traced }),
      await daemon.exec({ executable: '/no/such/program', ...traced }),
      await daemon.exec({ ...TRUE, operationId: 'unsampled', traceContext: UNSAMPLED }),
      await daemon.exec({ ...TRUE, operationId: 'alone' }),
    ];
    daemon.end();
    await daemon.ended;

    expect(answers.map(({ result, error }) => error?.code ?? result.replay)).toEqual([
      true,
      'operation_id_conflict',
      'invalid_params',
      'spawn_failed',
      false,
      false,
    ]);
    expect(collector.spans().map(({ attributes }) => attributes['burrow.operation.id'])).toEqual(['once']);
  });
});

describe('telemetry.configure', () => {
  it('exports nothing before it, and nothing after it was switched off', async () => {
    const collector = await startCollector();
    const daemon = startDaemon();
    await daemon.exec({ ...TRUE, operationId: 'before', traceContext: SAMPLED });
    const on = await configure(daemon, { enabled: true, endpoint: collector.url, headers: { 'x-key': 'k' } });
    const off = await configure(daemon, { enabled: false, endpoint: collector.url });
    await daemon.exec({ ...TRUE, operationId: 'after', traceContext: SAMPLED });
    daemon.end();
    await daemon.ended;

    const status = { source: 'controller' };
    expect(on).toEqual({
      ...status,
      enabled: true,
      endpoint: `${collector.url}/v1/traces`,
      headersConfigured: true,
    });
    expect(off).toEqual({ ...status, enabled: false, endpoint: null, headersConfigured: false });
    expect(collector.requests).toEqual([]);
  });

  it('applies to operations that run, and leaves to the former collector what ended before', async () => {
    const [first, second] = [await startCollector(), await startCollector()];
    const daemon = await startWith(first);
    await daemon.exec({ ...TRUE, operationId: 'ended', traceContext: SAMPLED });
    daemon.send({
      id: 'long',
      method: 'process.exec',
      params: { operationId: 'running', command: 'sleep .3', traceContext: SAMPLED },
    });
    await daemon.waitFor(
      'it runs',
      ({ type, operationId }) => type === 'accepted' && operationId === 'running',
    );
    await configure(daemon, { enabled: true, endpoint: second.url, headers: { Authorization: 'Bearer t' } });
    await daemon.answer('long');
    daemon.end();
    await daemon.ended;

    const ids = (collector: Collector) =>
      collector.spans().map(({ attributes }) => attributes['burrow.operation.id']);
    expect([ids(first), ids(second)]).toEqual([['ended'], ['running']]);
    expect(second.requests[0]?.headers.authorization).toBe('Bearer t');
    expect(first.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('changes nothing where the host names a collector or switches telemetry off', async () => {
    const [own, other] = [await startCollector(), await startCollector()];
    const daemon = startDaemon({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: own.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=host%20key' },
    });
    const status = await configure(daemon, {
      enabled: true,
      endpoint: other.url,
      headers: { 'x-other': '1' },
    });
    await daemon.exec({ ...TRUE, traceContext: SAMPLED });
    daemon.end();
    await daemon.ended;

    expect(status).toEqual({
      enabled: true,
      endpoint: `${own.url}/v1/traces`,
      headersConfigured: true,
      source: 'environment',
    });
    expect(own.requests[0]?.headers).toMatchObject({ 'x-key': 'host key' });
    expect(own.requests[0]?.headers['x-other']).toBeUndefined();
    expect(other.requests).toEqual([]);

    const off = startDaemon({ env: { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: own.url } });
    expect(await configure(off, { enabled: true, endpoint: other.url })).toMatchObject({
      enabled: false,
      source: 'environment',
    });
  });
});

describe('what leaves the host', () => {
  it('holds nothing of a request but its operation id, wherever one looks', async () => {
    const planted = (name: string): string => `planted-${name}-5e5c`;
    const stateDirectory = temporaryDirectory();
    const file = join(stateDirectory, planted('path'));
    writeFileSync(file, planted('content'));
    // Says what it was sent, as a hostile or talkative collector may.
    const collector = await startCollector((response, { headers }) =>
      response.writeHead(500, `${headers['x-key']}`).end(JSON.stringify(headers)),
    );
    const daemon = startDaemon({
      args: ['--state-dir', stateDirectory, '--log-level', 'debug'],
      env: { PLANTED: planted('hostenv') },
    });
    const headers = { 'x-key': planted('header') };
    const refusedHeaders = { [`bad ${planted('name')}`]: planted('refused') };
    await configure(daemon, { enabled: true, endpoint: collector.url, headers });
    const refused = await configure(daemon, {
      enabled: true,
      endpoint: `http://user:${planted('password')}@127.0.0.1`,
      headers: refusedHeaders,
    });
    const traced = { traceContext: SAMPLED };
    const fs = (tool: string, args: object) =>
      daemon.ask('filesystem.execute', { tool, arguments: args, ...traced });
    await daemon.exec({
      command: `echo ${planted('command')} >&2; exit 7`,
      env: { X: planted('env') },
      cwd: stateDirectory,
      ...traced,
    });
    await daemon.exec({ executable: '/bin/echo', args: [planted('argument')], ...traced });
    await daemon.exec({ executable: `/no/${planted('executable')}`, ...traced });
    await fs('files_read', { filePath: file });
    await fs('files_search', { dirPath: stateDirectory, query: planted('query') });
    await fs(planted('tool'), {});
    const answers = daemon.envelopes.length;
    await until('the collector was asked', () => collector.requests.length > 0);
    await until('its failure was logged', () => daemon.stderr().includes('collector'));
    const state = await daemon.ask('health');
    daemon.end();
    await daemon.ended;

    const outcomes = JSON.stringify(daemon.envelopes.slice(0, answers));
    expect(outcomes).toContain(planted('command'));
    expect(collector.spans()).toHaveLength(5);
    // The header goes where it was meant to go: into the header.
    expect(collector.requests[0]?.headers['x-key']).toBe(planted('header'));
    const exported = collector.requests.map(({ body }) => body.toString('latin1')).join('');
    expect(exported).toContain('burrow.operation.id');
    for (const text of [exported, daemon.stderr(), JSON.stringify([state, refused])]) {
      expect(text).not.toContain('planted');
      expect(text).not.toContain('5e5c');
    }
    const journal = readFileSync(join(stateDirectory, 'operations.json'), 'utf8');
    expect(journal).toContain(planted('command'));
    for (const name of ['header', 'name', 'refused', 'password', 'hostenv'])
      expect(journal).not.toContain(planted(name));
    for (const text of [TRACE_ID, PARENT_ID, collector.url]) expect(journal).not.toContain(text);
  });
});

describe('a broken collector', () => {
  it.each(BROKEN_KINDS)('(%s) changes no outcome and does not hold the daemon at a stop', async (kind) => {
    const broken = await startBroken(kind);
    onTestFinished(broken.close);
    const [off, on] = [startDaemon(), startDaemon()];
    await configure(on, { enabled: true, endpoint: broken.endpoint });
    const before = await runEverything(on, 'before');
    await until('a batch is on its way', () => broken.connections() > 0 || on.stderr().includes('fails'));
    const meanwhile = await runEverything(on, 'meanwhile');
    const startedAt = Date.now();
    on.child.kill('SIGTERM');

    expect(await on.ended).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedAt).toBeLessThan(3_000);
    expect(before).toEqual(await runEverything(off, 'before'));
    expect(meanwhile).toEqual(await runEverything(off, 'meanwhile'));
  });

  it('is logged once when it fails and once when it is back', async () => {
    const collector = await startCollector((response) =>
      response.writeHead(503).end('text of the collector'),
    );
    const daemon = startDaemon({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '300' },
    });
    await daemon.exec({ ...TRUE, operationId: 'a', traceContext: SAMPLED });
    await until('it was tried again', () => collector.requests.length >= 2);
    collector.behave(takes);
    await until('it is back', () => daemon.stderr().includes('again'));
    daemon.end();
    await daemon.ended;

    expect(daemon.stderr().match(/fails \(status 503\)/g)).toHaveLength(1);
    expect(daemon.stderr().match(/takes spans again/g)).toHaveLength(1);
    expect(daemon.stderr()).not.toContain('text of');
  });
});

describe('burrow client telemetry', () => {
  it('shows and changes what is configured', () => {
    const shown = burrow(['client', 'telemetry', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ enabled: false, source: 'controller', queuedSpans: 0 });

    const endpoint = 'https://collector.test';
    const set = burrow([
      'client',
      'telemetry',
      '--endpoint',
      endpoint,
      '--header',
      'x-key=se=cret',
      '--json',
    ]);
    expect(JSON.parse(set.stdout)).toEqual({
      enabled: true,
      endpoint: `${endpoint}/v1/traces`,
      headersConfigured: true,
      source: 'controller',
    });
    expect(burrow(['client', 'telemetry', '--disable']).stdout).toMatch(/^enabled +false$/m);

    const refused = burrow(['client', 'telemetry', '--endpoint', 'ftp://x', '--header', 'a=b']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('telemetry_config_invalid');
  });
});

/** One operation of each kind of end, without what differs from run to run. */
async function runEverything(daemon: Daemon, round: string): Promise<object[]> {
  const requests: [string, object][] = [
    ['process.exec', { command: `echo ${round}; echo err >&2; exit 3` }],
    ['process.exec', { executable: '/no/such/program' }],
    ['process.exec', { command: 'sleep 5', timeoutMs: 50, round }],
    ['filesystem.execute', { tool: 'files_list', arguments: { dirPath: '/' }, round }],
    ['filesystem.execute', { tool: 'files_read', arguments: { filePath: '/nowhere' }, round }],
  ];
  const answers: object[] = [];
  for (const [method, params] of requests) {
    const { result, error } = await daemon.ask(method, { ...params, traceContext: SAMPLED });
    const { startedAt, endedAt, durationMs, resultFingerprint, ...outcome } = result?.outcome ?? {};
    answers.push({ error, outcome, replay: result?.replay });
  }
  return answers;
}
