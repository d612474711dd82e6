import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenChannel } from '../../src/client/channel.ts';
import { createGatewayClient, type GatewayClient } from '../../src/client/client.ts';
import { throughController } from '../../src/client/controller.ts';
import { unixSocket } from '../../src/client/socket.ts';
import { type Collector, PARENT_ID, SAMPLED, startCollector, TRACE_ID } from '../telemetry/collector.ts';
import { start, startSite } from './controller.ts';
import { BURROW, burrow, temporaryDirectory, until } from './daemon.ts';

const OTHER_PARENT_ID = '00f067aa0ba902b7';
const OTHER = { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${OTHER_PARENT_ID}-01`, tracestate: 'v=1' };
const HEADER = 'key-of-the-collector';

/** Closed with the test. */
function clientOf(open: OpenChannel): GatewayClient {
  const client = createGatewayClient(open);
  onTestFinished(() => client.close());
  return client;
}

async function run(client: GatewayClient, operationId: string, traceContext: object): Promise<void> {
  const params = { executable: '/bin/true', operationId, traceContext };
  expect(await client.execute('process.exec', params)).toMatchObject({ status: 'ok' });
}

/** `operation id` → `parent`, once that many spans came. */
async function parents(collector: Collector, count: number): Promise<Record<string, string>> {
  await until(`${count} spans came`, () => collector.spans().length >= count);
  return Object.fromEntries(
    collector
      .spans()
      .map(({ attributes, parentSpanId }) => [String(attributes['burrow.operation.id']), parentSpanId]),
  );
}

describe('telemetry through a controller', () => {
  it('brings each span to the collector under the parent of its request', async () => {
    const collector = await startCollector();
    const site = await startSite();
    const daemon = await site.paired('web-1');
    const client = clientOf(throughController(site.socket, 'web-1'));
    const config = { enabled: true, endpoint: collector.url, headers: { 'x-key': HEADER } };
    expect(await client.call('telemetry.configure', config)).toMatchObject({
      status: 'ok',
      result: { enabled: true, endpoint: `${collector.url}/v1/traces`, headersConfigured: true },
    });
    await run(client, 'op-1', SAMPLED);
    await run(client, 'op-2', OTHER);

    expect(await parents(collector, 2)).toEqual({ 'op-1': PARENT_ID, 'op-2': OTHER_PARENT_ID });
    const [first, second] = collector.spans();
    expect(first).toMatchObject({
      traceId: TRACE_ID,
      kind: 'SPAN_KIND_SERVER',
      attributes: { 'burrow.operation.target': 'web-1' },
    });
    expect(second).toMatchObject({ traceState: 'v=1' });
    expect(collector.requests[0]?.headers['x-key']).toBe(HEADER);
    expect(daemon.stderr() + site.controller.stderr() + site.controller.stdout()).not.toContain(HEADER);
  });

  it('is configured by the command line, for one host of two, and survives the controller', async () => {
    const collector = await startCollector();
    const site = await startSite();
    const daemons = [await site.paired('web-1'), await site.paired('web-2')];
    const to = (target: string): string[] => ['--controller', site.socket, '--target', target];
    const args = ['--endpoint', collector.url, '--header', `x-key=${HEADER}`];
    expect(burrow(['client', 'telemetry', ...to('web-1'), ...args]).status).toBe(0);
    await site.restart();
    await until('both are back', () =>
      daemons.every(({ stderr }) => stderr().match(/Connected to controller/g)?.length === 2),
    );

    await run(clientOf(throughController(site.socket, 'web-2')), 'elsewhere', OTHER);
    await run(clientOf(throughController(site.socket, 'web-1')), 'here', SAMPLED);
    expect(await parents(collector, 1)).toEqual({ here: PARENT_ID });
    const { stdout } = burrow(['client', 'telemetry', ...to('web-1'), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ enabled: true, collector: 'ok', exportedSpans: 1 });
  });

  it.each<[string, string, object]>([
    ['a trace context', 'trace_context_invalid', { traceContext: { traceparent: `ff-${TRACE_ID}` } }],
    ['a trace context of another kind', 'trace_context_invalid', { traceContext: 'x' }],
  ])('refuses %s that is none before the host sees it', async (_name, code, more) => {
    const site = await startSite();
    await site.paired('web-1');
    const client = clientOf(throughController(site.socket, 'web-1'));
    const answer = await client.execute('process.exec', {
      executable: '/bin/true',
      operationId: 'op',
      ...more,
    });
    expect(answer).toMatchObject({ error: { code } });
    expect(site.verb('operations').stdout).not.toContain('op ');
  });
});

describe('telemetry over a unix socket', () => {
  it('brings each span to the collector under the parent of its request', async () => {
    const collector = await startCollector();
    const socket = join(temporaryDirectory(), 'gw.sock');
    const daemon = start([BURROW, 'daemon', '--socket', socket]);
    await until('it listens', () => daemon.stderr().includes('Listening on socket'));
    const client = clientOf(unixSocket(socket));
    await client.call('telemetry.configure', { enabled: true, endpoint: collector.url });
    await run(client, 'op-1', SAMPLED);
    // Another operator of the same host: one collector for all, each with a parent of its own.
    await run(clientOf(unixSocket(socket)), 'op-2', OTHER);
    expect(await parents(collector, 2)).toEqual({ 'op-1': PARENT_ID, 'op-2': OTHER_PARENT_ID });
  });
});
