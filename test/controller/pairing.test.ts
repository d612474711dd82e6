import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createIdentityKeys } from '../../src/protocol/auth.ts';
import { pairingResponse, proofResponse } from './fake-gateway.ts';
import { resultOf, startWorld, temporaryDirectory, until } from './world.ts';

describe('controller.pairings', () => {
  it('lists who waits, with the code that the host computed itself', async () => {
    const world = await startWorld();
    const gateway = await world.dial();
    const response = await pairingResponse(gateway, { gatewayId: 'web-1' });
    gateway.send(response);
    expect(await gateway.type('pairing.pending')).toEqual({
      type: 'pairing.pending',
      pairingCode: response['pairingCode'],
    });
    expect(await world.call('controller.pairings')).toMatchObject({
      result: { pairings: [{ gatewayId: 'web-1', pairingCode: response['pairingCode'] }] },
    });
  });

  it('forgets a host that hangs up', async () => {
    const world = await startWorld();
    const gateway = await world.waiting('web-1');
    gateway.close();
    await until('it left', () => world.log.some((line) => line.includes('left without a proof')));
    expect(await world.call('controller.pairings')).toMatchObject({ result: { pairings: [] } });
  });

  it('holds one entry for a node that connects again, and drops its first connection', async () => {
    const world = await startWorld();
    const keys = createIdentityKeys();
    const first = await world.waiting('web-1', keys);
    const second = await world.waiting('web-1', keys);
    expect(await first.type('transport.error')).toMatchObject({
      error: { code: 'gateway_already_connected' },
    });
    const { pairingCode } = await second.type('pairing.pending');
    expect(await world.call('controller.pairings')).toMatchObject({
      result: { pairings: [{ pairingCode }] },
    });
  });

  it('holds no more than four that claim one id and 64 in all', async () => {
    const world = await startWorld();
    for (let count = 0; count < 4; count += 1) await world.waiting('web-1');
    const fifth = await world.dial();
    fifth.send(await pairingResponse(fifth, { gatewayId: 'web-1' }));
    expect(await fifth.type('transport.error')).toMatchObject({
      error: { code: 'unknown_node', retryable: true },
    });
    for (let count = 4; count < 64; count += 1) await world.waiting(`host-${count}`);
    const last = await world.dial();
    last.send(await pairingResponse(last, { gatewayId: 'host-64' }));
    expect(await last.type('transport.error')).toMatchObject({ error: { code: 'unknown_node' } });
  });
});

describe('controller.approve', () => {
  it.each(['controller.approve', 'controller.reject'])(
    'answers a mistake in %s, and the connection ends',
    async (method) => {
      const world = await startWorld();
      await world.waiting('web-1');

      for (const params of [{ gatewayId: 'nobody' }, { gatewayId: 'web-1', pairingCode: 'AAAA-BBBB-CCCC' }]) {
        expect(await world.call(method, params)).toMatchObject({ error: { code: 'pairing_not_waiting' } });
      }
      expect(await world.call(method, {})).toMatchObject({ error: { code: 'invalid_params' } });
      // Resolves only when nothing that was asked counts as unanswered.
      await world.operator.close();
    },
  );

  it('lets the waiting connection in, at once', async () => {
    const world = await startWorld();
    const gateway = await world.waiting('web-1');
    expect(await world.call('controller.approve', { gatewayId: 'web-1' })).toMatchObject({
      result: { gatewayId: 'web-1', approved: true, connected: true },
    });
    expect(Object.keys(await gateway.type('auth.ok'))).toEqual(['type', 'connectionId']);
  });

  it('means the host with the code, when a code is given', async () => {
    const world = await startWorld();
    const good = await world.waiting('web-1');
    const bad = await world.waiting('web-1');
    const { pairingCode } = await good.type('pairing.pending');
    expect(await world.call('controller.approve', { gatewayId: 'web-1' })).toMatchObject({
      error: { code: 'invalid_params' },
    });
    await world.call('controller.approve', {
      gatewayId: 'web-1',
      pairingCode: String(pairingCode).toLowerCase(),
    });
    expect(await good.type('auth.ok')).toBeDefined();
    expect(await bad.type('transport.error')).toMatchObject({ error: { code: 'gateway_identity_conflict' } });
  });

  it('of two hosts at the same moment lets one in, and its key is the one on record', async () => {
    const world = await startWorld();
    const hosts = await Promise.all([world.waiting('web-1'), world.waiting('web-1')]);
    const codes = await Promise.all(hosts.map((host) => host.type('pairing.pending')));
    const answers = await Promise.all(
      codes.map(({ pairingCode }) => world.call('controller.approve', { gatewayId: 'web-1', pairingCode })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['ok', 'refused']);
    const winner = hosts[answers.findIndex(({ status }) => status === 'ok')];
    expect(await winner?.type('auth.ok')).toBeDefined();
    const loser = hosts[answers.findIndex(({ status }) => status === 'refused')];
    expect(await loser?.type('transport.error')).toMatchObject({
      error: { code: 'gateway_identity_conflict' },
    });
  });

  it('does not count for the challenge of an earlier connection', async () => {
    const world = await startWorld();
    const keys = createIdentityKeys();
    const first = await world.waiting('web-1', keys);
    const { pairingCode } = await first.type('pairing.pending');
    first.close();
    await until('it left', () => world.log.some((line) => line.includes('left without a proof')));
    await world.waiting('web-1', keys);
    expect(await world.call('controller.approve', { gatewayId: 'web-1', pairingCode })).toMatchObject({
      error: { code: 'pairing_not_waiting' },
    });
  });

  it.each([[{}], [{ gatewayId: 5 }], [{ gatewayId: '' }], [{ gatewayId: 'x'.repeat(257) }]])(
    'refuses %j',
    async (params) => {
      const world = await startWorld();
      expect(await world.call('controller.approve', params)).toMatchObject({
        error: { code: 'invalid_params' },
      });
    },
  );
});

describe('controller.reject', () => {
  it('tells the host and hangs up; it may ask again', async () => {
    const world = await startWorld();
    const gateway = await world.waiting('web-1');
    await world.call('controller.reject', { gatewayId: 'web-1' });
    expect(await gateway.type('transport.error')).toMatchObject({ error: { code: 'pairing_rejected' } });
    await gateway.closed;
    await world.waiting('web-1');
  });
});

describe('controller.revoke', () => {
  it('hangs up on the host, which has to pair again', async () => {
    const world = await startWorld();
    const keys = createIdentityKeys();
    const gateway = await world.waiting('web-1', keys);
    await world.call('controller.approve', { gatewayId: 'web-1' });
    expect(await world.call('controller.revoke', { gatewayId: 'web-1' })).toMatchObject({
      result: { revoked: true, disconnected: true },
    });
    expect(await gateway.type('transport.error')).toMatchObject({ error: { code: 'unknown_node' } });
    await gateway.closed;
    await world.waiting('web-1', keys);
  });

  it('refuses an id that is not on record', async () => {
    const world = await startWorld();
    expect(await world.call('controller.revoke', { gatewayId: 'x' })).toMatchObject({
      error: { code: 'unknown_gateway' },
    });
  });

  it('ends an enrollment', async () => {
    const world = await startWorld();
    const result = resultOf(await world.call('controller.enroll', { gatewayId: 'web-1' }));
    await world.call('controller.revoke', { gatewayId: 'web-1' });
    const gateway = await world.dial();
    gateway.send(await proofResponse(gateway, { gatewayId: 'web-1', secret: result.token }));
    expect(await gateway.type('transport.error')).toMatchObject({ error: { code: 'unknown_gateway' } });
  });
});

describe('controller.enroll', () => {
  it('makes a token once; a second one needs a revocation', async () => {
    const world = await startWorld();
    const first = await world.call('controller.enroll', { gatewayId: 'web-1' });
    expect(first).toMatchObject({ result: { token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) } });
    expect(await world.call('controller.enroll', { gatewayId: 'web-1' })).toMatchObject({
      error: { code: 'gateway_identity_conflict' },
    });
    expect(world.log.join('\n')).not.toContain(first.status === 'ok' ? first.result['token'] : 'none');
  });
});

describe('trust', () => {
  it('survives a restart: key, certificate, paired and enrolled gateways', async () => {
    const stateDirectory = temporaryDirectory();
    const keys = createIdentityKeys();
    const before = await startWorld({ stateDirectory });
    const result = resultOf(await before.call('controller.enroll', { gatewayId: 'web-2' }));
    const first = await before.waiting('web-1', keys);
    await before.call('controller.approve', { gatewayId: 'web-1' });
    const { controllerPublicKey } = await first.type('auth.challenge');
    await before.controller.close();

    const after = await startWorld({ stateDirectory });

    expect(after.controller.fingerprint).toBe(before.controller.fingerprint);
    const paired = await after.dial();
    paired.send(await pairingResponse(paired, { gatewayId: 'web-1', keys }));
    expect(await paired.type('auth.ok')).toBeDefined();
    expect((await paired.type('auth.challenge'))['controllerPublicKey']).toBe(controllerPublicKey);
    const enrolled = await after.dial();
    enrolled.send(await proofResponse(enrolled, { gatewayId: 'web-2', secret: result.token }));
    expect(await enrolled.type('auth.ok')).toBeDefined();
  });

  it('is kept in files for the owner alone', async () => {
    const world = await startWorld();
    await world.call('controller.enroll', { gatewayId: 'web-1' });
    for (const name of [
      'controller-identity.json',
      'controller-gateways.json',
      'controller-certificate-key.pem',
    ]) {
      expect(statSync(join(world.stateDirectory, name)).mode & 0o777, name).toBe(0o600);
    }
  });

  it.each(['controller-identity.json', 'controller-gateways.json'])(
    'is never guessed when %s is damaged',
    async (name) => {
      const stateDirectory = temporaryDirectory();
      writeFileSync(join(stateDirectory, name), '{"version":1,');
      await expect(startWorld({ stateDirectory })).rejects.toMatchObject({ name: 'ConfigurationError' });
    },
  );

  it('keeps all of 50 enrollments that are made at once', async () => {
    const stateDirectory = temporaryDirectory();
    const world = await startWorld({ stateDirectory });
    const ids = Array.from({ length: 50 }, (_, index) => `host-${index}`);
    await Promise.all(ids.map((gatewayId) => world.call('controller.enroll', { gatewayId })));
    await world.controller.close();
    const result = resultOf(await (await startWorld({ stateDirectory })).call('controller.gateways'));
    expect(result.gateways.map(({ gatewayId }: { gatewayId: string }) => gatewayId)).toEqual(ids.toSorted());
  });
});
