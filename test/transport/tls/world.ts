// What the tests of one file share: an authority, certificates and room on the disk; and for each test a state directory, a
// controller and gateways that end with it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { type Authority, createAuthority, type Issued } from './certificates.ts';
import { type Peer, startController, type TestController } from './controller.ts';
import { type LinkedGateway, type LinkOptions, startLink } from './gateway.ts';

export interface TlsWorld {
  /** Removed after the last test. */
  root: string;
  authority: Authority;
  /** For localhost and 127.0.0.1. */
  issued: Issued;
  /** The state directory of this test; not made yet. */
  directory: string;
  /** Another for each test, for names that must not come twice. */
  serial: number;
  /** With `issued` unless another is given, and those of virtual hosts. */
  controller(certificate?: Issued, hosts?: Readonly<Record<string, Issued>>): Promise<TestController>;
  /** Enrolled by the token `token`, with the authority as CA. */
  gatewayOf(url: string, more?: Partial<LinkOptions>): Promise<LinkedGateway>;
  connected(
    more?: Partial<LinkOptions>,
  ): Promise<{ far: TestController; gateway: LinkedGateway; peer: Peer }>;
}

/** Called at the top of a file. */
export function createTlsWorld(): TlsWorld {
  const world = {
    serial: 0,
    async controller(certificate = world.issued, hosts = {}) {
      const started = await startController(certificate, '127.0.0.1', hosts);
      onTestFinished(() => started.close());
      return started;
    },
    gatewayOf(url, more = {}) {
      const { directory, authority } = world;
      return startLink({ url, directory, caFile: authority.certFile, token: 'token', ...more });
    },
    async connected(more) {
      const far = await world.controller();
      const gateway = await world.gatewayOf(far.url, more);
      const peer = await far.next();
      await peer.admit('c1');
      await gateway.logged('Connected');
      return { far, gateway, peer };
    },
    // The rest is there before the first test.
  } as TlsWorld;
  beforeAll(() => {
    world.root = mkdtempSync(join(tmpdir(), 'burrow-tls-'));
    world.authority = createAuthority(world.root);
    world.issued = world.authority.issue('controller');
  });
  afterAll(() => rmSync(world.root, { recursive: true, force: true }));
  beforeEach(() => {
    world.serial += 1;
    world.directory = join(world.root, `state-${world.serial}`);
  });
  return world;
}
