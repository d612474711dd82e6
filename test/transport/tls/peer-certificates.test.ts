import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthority, type Issued } from './certificates.ts';
import type { TestController } from './controller.ts';
import { startLink } from './gateway.ts';
import { createTlsWorld } from './world.ts';

const world = createTlsWorld();
const { controller, gatewayOf, connected } = world;

describe('certificates', () => {
  it.each<[string, () => Issued, string]>([
    [
      'of another authority',
      () => createAuthority(world.root, `other-${world.serial}`).issue(`stranger-${world.serial}`),
      '(UNABLE_TO_',
    ],
    [
      'that has expired',
      () => world.authority.issue(`expired-${world.serial}`, { days: -1 }),
      '(CERT_HAS_EXPIRED)',
    ],
    [
      'for another name',
      () => world.authority.issue(`named-${world.serial}`, { names: 'DNS:other.example' }),
      'for "DNS:other.example", not for "127.0.0.1" (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
  ])('%s are refused, and tried again slowly', async (_name, make, text) => {
    const far = await controller(make());
    const gateway = await gatewayOf(far.url, { random: () => 1 });
    await gateway.logged(text);
    await expect
      .poll(() => gateway.log.filter((line) => line.includes('trying again in')).length, { timeout: 5_000 })
      .toBe(3);
    expect(gateway.log.map((line) => /in (\d+) ms/.exec(line)?.[1])).toEqual(['100', '200', '400']);
    expect(far.peers.flatMap((peer) => peer.messages)).toEqual([]);
  });

  it('are verified by the system when trust is HMAC and there is no CA', async () => {
    const far = await controller();
    const gateway = await startLink({ url: far.url, directory: world.directory, token: 'token' });
    await gateway.logged('(UNABLE_TO_');
  });

  it.each([
    ['localhost', 'localhost'],
    ['127.0.0.1', false],
  ])('of host %s are asked for by the name %s', async (host, serverName) => {
    const far = await controller();
    await gatewayOf(`tls://${host}:${far.port}`);
    const peer = await far.next();
    expect(peer.socket.servername).toBe(serverName);
    await peer.admit('c1');
  });

  describe('of two virtual hosts at one address', () => {
    function virtualHosts(): Promise<TestController> {
      const issue = (name: string): Issued =>
        world.authority.issue(`${name}-${world.serial}`, { names: `DNS:${name}` });
      return controller(world.issued, {
        'one.example': issue('one.example'),
        'two.example': issue('two.example'),
        'wrong.example': issue('one.example'),
      });
    }

    it.each(['one.example', 'two.example', 'TWO.example.'])(
      'the one of %s is asked for',
      async (serverName) => {
        const far = await virtualHosts();
        const gateway = await gatewayOf(far.url, { serverName });
        const peer = await far.next();
        expect(peer.socket.servername).toBe(serverName.toLowerCase().replace(/\.$/, ''));
        await peer.admit('c1');
        await gateway.logged('Connected');
      },
    );

    it.each([
      ['wrong.example', 'its certificate is for "DNS:one.example", not for "wrong.example"'],
      [
        'unknown.example',
        'its certificate is for "DNS:localhost, IP Address:127.0.0.1", not for "unknown.example"',
      ],
    ])('another than that of %s is refused, and tried again slowly', async (serverName, text) => {
      const far = await virtualHosts();
      const gateway = await gatewayOf(far.url, { serverName, random: () => 1 });
      expect(await gateway.logged(text)).toContain('(ERR_TLS_CERT_ALTNAME_INVALID)');
      await expect.poll(() => gateway.log.length, { timeout: 5_000 }).toBe(3);
      expect(gateway.log.map((line) => /in (\d+) ms/.exec(line)?.[1])).toEqual(['100', '200', '400']);
      expect(far.peers.flatMap((peer) => peer.messages)).toEqual([]);
    });
  });

  it('of this gateway are read again for each connection; a broken pair is not used', async () => {
    const own = world.authority.issue(`own-${world.serial}`);
    const renewed = world.authority.issue(`renewed-${world.serial}`);
    const [certFile, keyFile] = [
      join(world.root, `live-${world.serial}.pem`),
      join(world.root, `live-${world.serial}.key`),
    ];
    copyFileSync(own.certFile, certFile);
    copyFileSync(own.keyFile, keyFile);
    const far = await controller();
    const gateway = await gatewayOf(far.url, { certFile, keyFile });
    const shown = async (): Promise<string> => {
      const peer = await far.next();
      await peer.admit('c');
      const { subject } = peer.socket.getPeerCertificate();
      peer.socket.destroy();
      return String(subject.CN);
    };
    expect(await shown()).toBe(`own-${world.serial}`);
    copyFileSync(renewed.certFile, certFile);
    expect(await shown()).toBe(`own-${world.serial}`);
    await gateway.logged('the files that were read before are used on');
    copyFileSync(renewed.keyFile, keyFile);
    await expect.poll(shown).toBe(`renewed-${world.serial}`);
  });

  it('show in health when they run out', async () => {
    const short = world.authority.issue(`short-${world.serial}`, { days: 3 });
    const { gateway, peer } = await connected({ certFile: short.certFile, keyFile: short.keyFile });
    expect(gateway.link.health()).toMatchObject({
      ok: false,
      controller: { state: 'connected' },
      certificates: [
        { certificate: 'ca', state: 'ok', daysLeft: 364 },
        { certificate: 'gateway', state: 'expiring', daysLeft: 2 },
        { certificate: 'controller', state: 'ok', daysLeft: 89 },
      ],
    });
    await gateway.logged('Certificate of this gateway runs out');
    peer.socket.destroy();
  });
});
