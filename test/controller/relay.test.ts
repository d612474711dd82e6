import { describe, expect, it } from 'vitest';
import { MAX_FRAME_BYTES } from '../../src/protocol/defaults.ts';
import type { Message } from './fake-gateway.ts';
import { resultOf, startWorld, until } from './world.ts';

const EXEC = { command: 'true', operationId: 'op-1' };

function accepted({ id, params }: Message): Message {
  return {
    type: 'accepted',
    requestId: id,
    ok: true,
    operationId: params.operationId,
    protocolVersion: '1.0',
  };
}

function completed({ id, params }: Message, exitCode = 0): Message {
  const outcome = { type: 'process.result', exitCode };
  return {
    type: 'response',
    requestId: id,
    ok: true,
    result: { operationId: params.operationId, replay: false, outcome },
  };
}

describe('a request with a target', () => {
  it('reaches that gateway with its params as they were, and brings events and answer back', async () => {
    const world = await startWorld();
    const [web, other] = [await world.enrolled('web-1'), await world.enrolled('web-2')];
    const streams: string[] = [];
    const params = { ...EXEC, env: { ä: '\u0000😀', __proto__x: '1' }, timeoutMs: 5, parentRunId: 'r' };

    const running = world
      .to('web-1')
      .execute('process.exec', params, { onStream: ({ data }) => streams.push(data) });
    const request = await web.request('process.exec');
    web.send(accepted(request));
    web.send({
      type: 'process.stream',
      operationId: 'op-1',
      stream: 'stdout',
      seq: 1,
      data: 'hé\n',
      truncated: false,
    });
    web.send({
      type: 'process.stream',
      operationId: 'other',
      stream: 'stdout',
      seq: 1,
      data: 'not ours',
      truncated: false,
    });
    web.send(completed(request, 3));

    expect(await running).toMatchObject({ status: 'ok', result: { outcome: { exitCode: 3 } } });
    expect(request['params']).toEqual(params);
    expect(streams).toEqual(['hé\n']);
    expect(other.messages.some(({ method }) => method !== undefined)).toBe(false);
  });

  it.each<[string, (id: unknown) => string]>([
    [
      'as gateways write it',
      (id) => `{"type":"response","requestId":${JSON.stringify(id)},"ok":true,"result":{"big":1e400}}`,
    ],
    [
      'in another order',
      (id) => `{"ok":true,"result":{},"type":"response","requestId":${JSON.stringify(id)}}`,
    ],
    [
      'with blanks',
      (id) => `{ "type" : "response", "requestId" : ${JSON.stringify(id)}, "ok":true,"result":{}}`,
    ],
  ])('gets its answer %s under its own id', async (_what, line) => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const answers: string[] = [];
    const session = world.controller.operators.connect({
      transport: 'unix-jsonl',
      maxFrameBytes: MAX_FRAME_BYTES,
      send: (frame) => answers.push(typeof frame === 'string' ? frame : frame.map(String).join('')),
    });
    session.receive(Buffer.from('{"id":9007199254740993,"method":"health","target":"web-1"}'));
    gateway.send(`${line((await gateway.request('health'))['id'])}\n`);
    await session.idle();
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatch(/^\{"type":"response","requestId":9007199254740993,.*\}\n$/);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['that nobody has', 'process.exec', EXEC, 'gateway_not_connected'],
    ['of an unknown method', 'process.kill', {}, 'unknown_method'],
    ['without an operation id', 'process.exec', { command: 'true' }, 'invalid_params'],
    ['with an empty operation id', 'filesystem.execute', { operationId: '' }, 'invalid_params'],
    [
      'with a broken trace',
      'process.exec',
      { ...EXEC, traceContext: { traceparent: 'x' } },
      'trace_context_invalid',
    ],
    ['with a broken collector', 'telemetry.configure', { enabled: 1 }, 'telemetry_config_invalid'],
    [
      'with a binding of its own',
      'process.exec',
      { ...EXEC, protectedDelivery: {} },
      'protected_delivery_binding_invalid',
    ],
  ])('%s is refused by the controller itself (%s)', async (_what, method, params, code) => {
    const world = await startWorld();
    expect(await world.to('nobody').execute(method, params)).toMatchObject({
      status: 'refused',
      error: { code },
    });
  });

  it('is refused while its gateway waits for approval', async () => {
    const world = await startWorld();
    await world.waiting('web-1');
    expect(await world.to('web-1').execute('process.exec', EXEC)).toMatchObject({
      error: { code: 'gateway_not_ready', details: { retryable: true, operationId: 'op-1' } },
    });
  });

  it('over the frame limit is refused and not sent', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    // Each number takes 5 bytes as it comes, and 22 on its way out.
    const params = `{"operationId":"o","numbers":[${'1e20,'.repeat(200_000)}0]}`;
    const answers: string[] = [];
    const session = world.controller.operators.connect({
      transport: 'unix-jsonl',
      maxFrameBytes: MAX_FRAME_BYTES,
      send: (frame) => answers.push(String(frame)),
    });
    session.receive(Buffer.from(`{"id":1,"target":"web-1","method":"process.exec","params":${params}}`));
    expect(answers.join('')).toContain('frame_too_large');
    await session.idle();
    expect(gateway.messages.some(({ method }) => method === 'process.exec')).toBe(false);
    expect(await world.call('controller.operations')).toMatchObject({ result: { operations: [] } });
  });
});

describe('a request without a target', () => {
  it.each([
    ['hello', { name: 'burrow-controller', version: '1.2.3', protocolVersion: '1.0' }],
    ['health', { status: 'ok', gateways: { connected: 0, pending: 0 } }],
  ])('%s is answered by the controller', async (method, result) => {
    const world = await startWorld();
    expect(await world.call(method)).toMatchObject({ status: 'ok', result });
  });

  it.each([
    ['process.exec', 'invalid_message'],
    ['shutdown', 'invalid_message'],
    ['controller.nonsense', 'unknown_method'],
  ])('%s is refused with %s', async (method, code) => {
    const world = await startWorld();
    expect(await world.call(method, EXEC)).toMatchObject({ error: { code } });
  });
});

describe('a lost connection', () => {
  it('answers what was under way, and the same operation id is taken after it', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const running = world.to('web-1').execute('process.exec', EXEC);
    gateway.send(accepted(await gateway.request('process.exec')));
    gateway.close();
    expect(await running).toMatchObject({
      status: 'refused',
      error: {
        code: 'gateway_disconnected',
        details: { operationId: 'op-1', retryable: true, action: 'retry_same_operation_id_after_reconnect' },
      },
    });
    expect(await world.call('controller.operations')).toMatchObject({
      result: { operations: [{ operationId: 'op-1', status: 'lost', code: 'gateway_disconnected' }] },
    });
  });

  it('does not mix up an answer that comes late on the next connection', async () => {
    const world = await startWorld();
    const result = resultOf(await world.call('controller.enroll', { gatewayId: 'x' }));
    expect(result).toBeDefined();
    const first = await world.enrolled('web-1');
    const second = await world.enrolled('web-2');
    const lost = world.to('web-1').execute('process.exec', EXEC);
    const request = await first.request('process.exec');
    first.close();
    await lost;
    const running = world.to('web-2').execute('process.exec', { ...EXEC, operationId: 'op-2' });
    const later = await second.request('process.exec');
    second.send({ ...completed(request), result: { stale: true } }, completed(later));
    expect(await running).toMatchObject({ result: { operationId: 'op-2' } });
  });
});

describe('a gateway after authentication', () => {
  it.each([
    ['garbage', 'garbage\n', 'invalid_json'],
    ['a number', '5\n', 'invalid_message'],
    ['an envelope without a type', '{"ok":true}\n', 'invalid_message'],
    [
      'a second proof',
      '{"type":"auth.response","gatewayId":"web-1","proof":"x"}\n',
      'unexpected_auth_message',
    ],
    ['a frame over 2 MiB', `"${'x'.repeat(2 * 1024 * 1024)}"\n`, 'frame_too_large'],
  ])('that sends %s is told %s and hung up on', async (_what, text, code) => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const running = world.to('web-1').call('health');
    await gateway.request('health');
    gateway.send(text);
    expect(await gateway.type('transport.error')).toMatchObject({ error: { code } });
    expect(await running).toMatchObject({ error: { code: 'gateway_disconnected' } });
    await until('it is told', () =>
      world.log.some((line) => line.includes(`"web-1" disconnected`) && line.includes(code)),
    );
  });

  it('may send what nobody asked for', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    gateway.send(
      { type: 'response', requestId: 'nobody', ok: true, result: {} },
      { type: 'from.the.future' },
    );
    gateway.send({ type: 'process.stream', operationId: 'nobody', data: 'x' });
    const running = world.to('web-1').call('health');
    const { id } = await gateway.request('health');
    gateway.send({ type: 'response', requestId: id, ok: true, result: { status: 'ok' } });
    expect(await running).toMatchObject({ status: 'ok' });
  });

  it('takes frames of almost 2 MiB', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const running = world.to('web-1').call('health');
    const { id } = await gateway.request('health');
    const text = 'x'.repeat(MAX_FRAME_BYTES - 200);
    gateway.send({ type: 'response', requestId: id, ok: true, result: { text } });
    expect(await running).toMatchObject({ status: 'ok', result: { text } });
  });
});

describe('protected values', () => {
  const SECRETS = { ...EXEC, protectedValues: { TOKEN: 'hunter2hunter2' } };

  it('are bound to gateway, connection, request and operation, and kept nowhere', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const running = world.to('web-1').execute('process.exec', SECRETS);
    const request = await gateway.request('process.exec');
    expect(request['params']).toEqual({
      ...SECRETS,
      protectedDelivery: {
        gatewayId: 'web-1',
        connectionId: (await gateway.type('auth.ok'))['connectionId'],
        requestId: request['id'],
        operationId: 'op-1',
      },
    });
    gateway.send(accepted(request), completed(request));
    await running;
    const operations = await world.call('controller.operations');
    expect(JSON.stringify(operations) + world.log.join('\n')).not.toContain('hunter2');
    expect(operations).toMatchObject({
      result: { operations: [{ status: 'completed', exitCode: 0, isProtected: true }] },
    });
  });

  it.each<[string, boolean, string]>([
    ['while it runs', false, 'operation_in_progress'],
    ['when its end was lost', true, 'protected_redelivery_forbidden'],
  ])('are not sent again for an operation that has begun, %s', async (_what, isLost, code) => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const begun = Promise.withResolvers<void>();
    const running = world.to('web-1').execute('process.exec', SECRETS, { onAccepted: () => begun.resolve() });
    gateway.send(accepted(await gateway.request('process.exec')));
    await begun.promise;
    if (isLost) {
      gateway.close();
      await running;
      await world.call('controller.revoke', { gatewayId: 'web-1' });
    }
    const next = isLost ? await world.enrolled('web-1') : gateway;
    expect(await world.to('web-1').execute('process.exec', SECRETS)).toMatchObject({ error: { code } });
    const deliveries = [...gateway.messages, ...(isLost ? next.messages : [])];
    expect(deliveries.filter(({ method }) => method === 'process.exec')).toHaveLength(1);
  });

  it('are not taken by a file tool', async () => {
    const world = await startWorld();
    await world.enrolled('web-1');
    expect(
      await world.to('web-1').execute('filesystem.execute', { ...SECRETS, tool: 'files_read' }),
    ).toMatchObject({
      error: { code: 'protected_delivery_binding_invalid' },
    });
  });
});

describe('controller.operations', () => {
  it('lists the last 256, without commands and output', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    const client = world.to('web-1');
    const answered = Array.from({ length: 260 }, (_, index) =>
      client.execute('process.exec', { command: 'echo visible?', operationId: `op-${index}` }),
    );
    await until(
      'all came',
      () => gateway.messages.filter(({ method }) => method === 'process.exec').length === 260,
    );
    for (const request of gateway.messages)
      if (request['method'] === 'process.exec') gateway.send(completed(request, 7));
    await Promise.all(answered);
    const result = resultOf(await world.call('controller.operations'));
    expect(result.operations).toHaveLength(256);
    expect(result.operations[0]).toMatchObject({
      operationId: 'op-4',
      target: 'web-1',
      status: 'completed',
      exitCode: 7,
    });
    expect(JSON.stringify(result)).not.toContain('visible?');
  });
});
