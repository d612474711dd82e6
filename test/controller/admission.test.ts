import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createIdentityKeys, hmacProof } from '../../src/protocol/auth.ts';
import { type FakeGateway, type Message, pairingResponse, proofResponse } from './fake-gateway.ts';
import { startWorld, until, type World } from './world.ts';

async function tokenFor(world: World, gatewayId: string): Promise<string> {
  const answer = await world.call('controller.enroll', { gatewayId });
  if (answer.status !== 'ok') throw new Error(JSON.stringify(answer));
  return String(answer.result['token']);
}

/** The gateway was told `code`, the connection ended, the log says so, and no work came. */
async function expectRefusal(world: World, gateway: FakeGateway, code: string): Promise<void> {
  const message = await gateway.type('transport.error');
  expect(message).toMatchObject({ ok: false, error: { code } });
  await gateway.closed;
  await until(`the log names ${code}`, () => world.log.some((line) => line.includes(`(${code})`)));
  expect(gateway.messages.filter(({ method, type }) => method !== undefined || type === 'auth.ok')).toEqual(
    [],
  );
}

describe('the challenge', () => {
  it('carries a nonce of at least 16 characters, new each time, and the key of the controller', async () => {
    const world = await startWorld();
    const [first, second] = await Promise.all([world.dial(), world.dial()]);
    const challenges = await Promise.all([first.type('auth.challenge'), second.type('auth.challenge')]);
    expect(challenges[0]?.['nonce'].length).toBeGreaterThanOrEqual(16);
    expect(challenges[0]?.['nonce']).not.toBe(challenges[1]?.['nonce']);
    expect(challenges[0]?.['controllerPublicKey']).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(challenges[0]?.['controllerPublicKey']).toBe(challenges[1]?.['controllerPublicKey']);
  });
});

describe('a proof', () => {
  it('lets an enrolled gateway in', async () => {
    const world = await startWorld();
    const gateway = await world.enrolled('web-1');
    expect((await gateway.type('auth.ok'))['connectionId']).toMatch(/^[0-9a-f-]{36}$/);
    expect(world.log.join('\n')).toMatch(/Gateway "web-1" connected from 127\.0\.0\.1:\d+ \(enrollment\)/);
  });

  it.each<[string, string, (right: Message, secret: string) => object]>([
    [
      'made with another secret',
      'auth_failed',
      (right) => ({ ...right, proof: hmacProof('x', { gatewayId: 'web-1', nonce: 'n' }) }),
    ],
    ['in capitals', 'auth_failed', (right) => ({ ...right, proof: right['proof'].toUpperCase() })],
    ['that is short', 'auth_failed', (right) => ({ ...right, proof: right['proof'].slice(0, 63) })],
    ['for another id', 'unknown_gateway', (right) => ({ ...right, gatewayId: 'web-2' })],
    ['that is no text', 'invalid_auth_message', (right) => ({ ...right, proof: 5 })],
    ['that is missing', 'invalid_auth_message', ({ proof: _proof, ...right }) => right],
    ['for an id with a line break', 'invalid_auth_message', (right) => ({ ...right, gatewayId: 'a\nb' })],
  ])('%s is refused with %s', async (_what, code, change) => {
    const world = await startWorld();
    const secret = await tokenFor(world, 'web-1');
    const gateway = await world.dial();
    gateway.send(change(await proofResponse(gateway, { gatewayId: 'web-1', secret }), secret));
    await expectRefusal(world, gateway, code);
  });

  it('that was right once is refused when it is played again', async () => {
    const world = await startWorld();
    const secret = await tokenFor(world, 'web-1');
    const first = await world.dial();
    const response = await proofResponse(first, { gatewayId: 'web-1', secret });
    first.send(response);
    await first.type('auth.ok');
    first.close();
    await until('it is gone', () => world.log.some((line) => line.includes('disconnected')));

    const second = await world.dial();
    second.send(response);

    await expectRefusal(world, second, 'auth_failed');
  });

  it('for the id of a paired node is a conflict', async () => {
    const world = await startWorld();
    await world.waiting('web-1');
    await world.call('controller.approve', { gatewayId: 'web-1' });
    const gateway = await world.dial();
    gateway.send(await proofResponse(gateway, { gatewayId: 'web-1', secret: 'guess' }));
    await expectRefusal(world, gateway, 'gateway_identity_conflict');
  });
});

describe('a pairing', () => {
  const keys = createIdentityKeys();
  it.each<[string, string, (right: Message) => object]>([
    [
      'signed by another key',
      'auth_failed',
      (right) => ({ ...right, nodePublicKey: createIdentityKeys().publicKey }),
    ],
    ['with a broken signature', 'auth_failed', (right) => ({ ...right, pairingSignature: 'AAAA' })],
    ['with a key that is none', 'auth_failed', (right) => ({ ...right, nodePublicKey: 'no key' })],
    ['with another code', 'auth_failed', (right) => ({ ...right, pairingCode: '0000-0000-0000' })],
    ['under another id than it signed', 'auth_failed', (right) => ({ ...right, gatewayId: 'web-2' })],
    ['without a code', 'invalid_auth_message', ({ pairingCode: _code, ...right }) => right],
  ])('%s is refused with %s', async (_what, code, change) => {
    const world = await startWorld();
    const gateway = await world.dial();
    gateway.send(change(await pairingResponse(gateway, { gatewayId: 'web-1', keys })));
    await expectRefusal(world, gateway, code);
  });

  it('of an enrolled id is a conflict', async () => {
    const world = await startWorld();
    await tokenFor(world, 'web-1');
    const gateway = await world.dial();
    gateway.send(await pairingResponse(gateway, { gatewayId: 'web-1', keys }));
    await expectRefusal(world, gateway, 'gateway_identity_conflict');
  });
});

describe('a second gateway', () => {
  it('with the same id and key is refused while the first is there, and let in when the first is dead', async () => {
    const world = await startWorld();
    const keys = createIdentityKeys();
    const first = await world.waiting('web-1', keys);
    await world.call('controller.approve', { gatewayId: 'web-1' });
    await first.type('auth.ok');
    const second = await world.dial();
    second.send(await pairingResponse(second, { gatewayId: 'web-1', keys }));
    await expectRefusal(world, second, 'gateway_already_connected');
    // The first is asked whether it lives.
    expect(await first.request('hello')).toBeDefined();
    first.close();
    await until('it is gone', () => world.log.some((line) => line.includes('"web-1" disconnected')));
    const third = await world.dial();
    third.send(await pairingResponse(third, { gatewayId: 'web-1', keys }));
    expect(await third.type('auth.ok')).toBeDefined();
  });

  it('with the same id and another key is a conflict', async () => {
    const world = await startWorld();
    await world.waiting('web-1');
    await world.call('controller.approve', { gatewayId: 'web-1' });
    const second = await world.dial();
    second.send(await pairingResponse(second, { gatewayId: 'web-1' }));
    await expectRefusal(world, second, 'gateway_identity_conflict');
  });
});

describe('before authentication', () => {
  it.each<[string, string, (right: Message) => string]>([
    ['garbage', 'invalid_auth_message', () => '\u0000\u0001 garbage\n'],
    ['a list', 'invalid_auth_message', () => '[1,2]\n'],
    ['a request', 'unauthenticated', () => '{"id":1,"method":"hello"}\n'],
    ['an answer', 'unauthenticated', () => '{"type":"response","requestId":"r1","ok":true,"result":{}}\n'],
    ['auth.ok', 'unexpected_auth_message', () => '{"type":"auth.ok","connectionId":"x"}\n'],
    ['a line over 64 KiB', 'frame_too_large', () => 'x'.repeat(70_000)],
    ['2 MiB and no line end', 'frame_too_large', () => 'x'.repeat(2 * 1024 * 1024)],
    [
      'a line before auth.ok',
      'unauthenticated',
      (right) => `${JSON.stringify(right)}\n{"type":"response"}\n`,
    ],
    [
      'two responses',
      'unexpected_auth_message',
      (right) => `${JSON.stringify(right)}\n${JSON.stringify(right)}\n`,
    ],
  ])('%s is refused with %s', async (_what, code, text) => {
    const world = await startWorld();
    const secret = await tokenFor(world, 'web-1');
    const gateway = await world.dial();
    gateway.send(text(await proofResponse(gateway, { gatewayId: 'web-1', secret })));
    await expectRefusal(world, gateway, code);
  });

  it('garbage while a pairing waits is refused, and the pairing is gone', async () => {
    const world = await startWorld();
    const gateway = await world.waiting('web-1');
    gateway.send('garbage\n');
    await expectRefusal(world, gateway, 'invalid_auth_message');
    expect(await world.call('controller.approve', { gatewayId: 'web-1' })).toMatchObject({
      error: { code: 'pairing_not_waiting' },
    });
  });

  it('a peer that accepts TCP and stays silent is ended', async () => {
    const world = await startWorld({ handshakeLimitMs: 100 });
    const socket = connectTcp(world.controller.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'close');
    await until('it is told', () => world.log.some((line) => line.includes('ERR_TLS_HANDSHAKE_TIMEOUT')));
  });

  it('a peer that speaks no TLS is ended', async () => {
    const world = await startWorld();
    const socket = connectTcp(world.controller.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.end('GET / HTTP/1.0\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    await until('it is told', () =>
      world.log.some((line) => line.includes('did not finish its TLS handshake')),
    );
  });

  it('a peer that finishes TLS and says nothing is ended', async () => {
    const world = await startWorld({ handshakeLimitMs: 100 });
    const gateway = await world.dial();
    await gateway.closed;
    await until('it is told', () => world.log.some((line) => line.includes('(ETIMEDOUT)')));
  });

  it('a peer that sends a byte now and then is ended all the same', async () => {
    const world = await startWorld({ handshakeLimitMs: 200 });
    const gateway = await world.dial();
    const startedAt = performance.now();
    while (!gateway.socket.destroyed && performance.now() - startedAt < 5_000) {
      gateway.send(' ');
      await delay(20);
    }
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await until('it is told', () => world.log.some((line) => line.includes('(ETIMEDOUT)')));
  });
});
