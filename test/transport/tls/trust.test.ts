import { X509Certificate } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createIdentityKeys,
  hmacProof,
  isPairingSignature,
  pairingCode,
} from '../../../src/protocol/auth.ts';
import { NONCE } from './controller.ts';
import { startLink } from './gateway.ts';
import { createTlsWorld } from './world.ts';

const world = createTlsWorld();
const { controller, gatewayOf } = world;

describe('enrollment', () => {
  it('proves the token, makes trust once it is accepted, and consumes the token', async () => {
    const far = await controller();
    const gateway = await gatewayOf(far.url, { token: 'a$b"c' });
    const peer = await far.next();
    const response = await peer.challenge();
    expect(response).toEqual({
      type: 'auth.response',
      gatewayId: 'host-1',
      controllerId: 'controller',
      gateway: { name: 'burrow-host-gateway', version: '1.2.3', protocolVersion: '1.0' },
      proof: hmacProof('a$b"c', { gatewayId: 'host-1', nonce: NONCE }),
    });
    expect(gateway.state('controller-trust.json')).toBeUndefined();
    peer.send({ type: 'auth.ok', connectionId: 'c1' });
    await expect
      .poll(() => gateway.state('controller-enrollment-consumed'))
      .toMatch(/^\d{4}-\d\d-\d\dT.*Z\n$/);
    expect(JSON.parse(gateway.state('controller-trust.json') ?? '')).toEqual({
      version: 1,
      controllerId: 'controller',
      secret: 'a$b"c',
      enrolledAt: expect.any(String),
    });
    expect(statSync(join(world.directory, 'controller-trust.json')).mode & 0o777).toBe(0o600);
    expect(gateway.log.join()).not.toContain('a$b');
  });

  it('uses the trust of an older installation as it is, whatever the token says', async () => {
    mkdirSync(world.directory);
    const record =
      '{"version":1,"controllerId":"core-7","secret":"old","enrolledAt":"2025-01-01T00:00:00.000Z","more":1}';
    writeFileSync(join(world.directory, 'controller-trust.json'), record);
    const far = await controller();
    const gateway = await gatewayOf(far.url, { token: 'new' });
    const response = await (await far.next()).admit('c1');
    expect(response).toMatchObject({
      controllerId: 'core-7',
      proof: hmacProof('old', { gatewayId: 'host-1', nonce: NONCE }),
    });
    await gateway.logged('Connected');
    expect(gateway.state('controller-trust.json')).toBe(record);
    expect(gateway.log.join()).toContain('token is not used');
  });

  it('does not make trust again from a token that was consumed, but pairs', async () => {
    mkdirSync(world.directory);
    writeFileSync(join(world.directory, 'controller-enrollment-consumed'), '2025-01-01T00:00:00.000Z\n');
    const far = await controller();
    const gateway = await gatewayOf(far.url, { token: 'again' });
    const response = await (await far.next()).admit('c1');
    expect(response.proof).toBeUndefined();
    expect(response.pairingSignature).toEqual(expect.any(String));
    expect(gateway.log.join()).toContain('controller-enrollment-consumed');
  });
});

describe('pairing', () => {
  it('signs the transcript, shows the code until approval, and pins key and certificate', async () => {
    const far = await controller();
    const gateway = await startLink({ url: far.url, directory: world.directory });
    const peer = await far.next();
    const response = await peer.challenge();
    const identity = JSON.parse(gateway.state('node-identity.json') ?? '');
    const transcript = {
      nonce: NONCE,
      gatewayId: 'host-1',
      nodePublicKey: identity.publicKey,
      controllerPublicKey: far.keys.publicKey,
    };
    expect(isPairingSignature(response.pairingSignature, transcript)).toBe(true);
    expect(response).toMatchObject({
      nodePublicKey: identity.publicKey,
      pairingCode: pairingCode(transcript),
    });
    expect(response.pairingCode).toMatch(/^[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}$/);
    expect(identity.privateKey).toContain('BEGIN PRIVATE KEY');
    expect(statSync(join(world.directory, 'node-identity.json')).mode & 0o777).toBe(0o600);

    peer.send({ type: 'pairing.pending', pairingCode: response.pairingCode });
    peer.send({ type: 'pairing.pending', pairingCode: response.pairingCode });
    const told = await gateway.logged(`Pairing code ${response.pairingCode}`);
    expect(told).toContain(new X509Certificate(world.issued.cert).fingerprint256);
    await expect.poll(() => gateway.state('pairing-code.json')).toContain(response.pairingCode);
    expect(gateway.link.health().controller.state).toBe('pairing');
    peer.send({ id: 1, method: 'hello' });
    expect(await peer.waitFor((message) => message.requestId === 1)).toMatchObject({
      type: 'response',
      error: { code: 'unauthenticated' },
    });

    expect(gateway.log.filter((line) => line.includes('Pairing code'))).toHaveLength(1);
    peer.send({ type: 'auth.ok', connectionId: 'c1' });
    await expect.poll(() => gateway.state('pairing-code.json')).toBeUndefined();
    const pinned = JSON.parse(gateway.state('node-identity.json') ?? '');
    expect(pinned).toEqual({
      ...identity,
      controllerPublicKey: far.keys.publicKey,
      controllerTlsFingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
    });
  });

  it('comes back with the same key and needs no approval again', async () => {
    const far = await controller();
    const gateway = await startLink({ url: far.url, directory: world.directory });
    const first = await far.next();
    const { nodePublicKey } = await first.admit('c1');
    await gateway.logged('Connected');
    first.socket.destroy();
    expect((await (await far.next()).admit('c2')).nodePublicKey).toBe(nodePublicKey);
  });

  it.each([
    ['another key of the controller', { controllerPublicKey: 'other' }, 'controller_identity_mismatch'],
    ['no key of the controller', { controllerPublicKey: null }, 'controller_identity_missing'],
  ])('refuses %s, then and after a restart', async (_name, challenge, code) => {
    const far = await controller();
    const before = await startLink({ url: far.url, directory: world.directory });
    const first = await far.next();
    await first.admit('c1');
    await expect.poll(() => before.state('node-identity.json')).toContain('controllerTlsFingerprint');
    await before.stop();

    const gateway = await startLink({ url: far.url, directory: world.directory });
    const peer = await far.next();
    await expect(peer.challenge(challenge)).rejects.toThrow('Connection closed');
    expect(peer.messages).toMatchObject([{ type: 'transport.error', error: { code } }]);
    expect(await gateway.logged(`(${code})`)).toMatch(/^error /);
  });

  it.each(['AA:BB', 'aabb'])(
    'refuses another certificate than the pinned %s before anything is sent',
    async (pinned) => {
      const far = await controller();
      mkdirSync(world.directory);
      const identity = {
        version: 1,
        nodeId: 'n',
        ...createIdentityKeys(),
        controllerPublicKey: far.keys.publicKey,
      };
      writeFileSync(
        join(world.directory, 'node-identity.json'),
        JSON.stringify({ ...identity, controllerTlsFingerprint: pinned }),
      );
      const gateway = await startLink({ url: far.url, directory: world.directory });
      const peer = await far.next();
      expect(await gateway.logged('(controller_tls_identity_mismatch)')).toMatch(/^error /);
      await peer.closed;
      expect(peer.messages.map((message) => message.type)).toEqual(['transport.error']);
    },
  );

  it('uses the identity of an older installation as it is', async () => {
    const far = await controller();
    mkdirSync(world.directory);
    const file = JSON.stringify({
      version: 1,
      nodeId: 'older',
      ...createIdentityKeys(),
      createdAt: '2025-01-01T00:00:00.000Z',
      controllerPublicKey: far.keys.publicKey,
      controllerTlsFingerprint: new X509Certificate(world.issued.cert).fingerprint256
        .replaceAll(':', '')
        .toLowerCase(),
      future: true,
    });
    writeFileSync(join(world.directory, 'node-identity.json'), file);
    const gateway = await startLink({ url: far.url, directory: world.directory });
    await (await far.next()).admit('c1');
    await gateway.logged('Connected');
    expect(gateway.state('node-identity.json')).toBe(file);
  });

  it('warns when the controller shows another code', async () => {
    const far = await controller();
    const gateway = await startLink({ url: far.url, directory: world.directory });
    const peer = await far.next();
    await peer.challenge();
    peer.send({ type: 'pairing.pending', pairingCode: 'AAAA-AAAA-AAAA' });
    expect(await gateway.logged('identity_mismatch')).toMatch(/^error /);
  });

  it.each([
    ['node-identity.json', '{"version":1,'],
    ['node-identity.json', '{"version":2,"nodeId":"x"}'],
    ['controller-trust.json', '{"version":1,"controllerId":"c"}'],
  ])('does not start over a damaged %s', async (name, content) => {
    mkdirSync(world.directory);
    writeFileSync(join(world.directory, name), content);
    await expect(startLink({ url: 'tls://127.0.0.1:1', directory: world.directory })).rejects.toMatchObject({
      name: 'ConfigurationError',
    });
  });
});
