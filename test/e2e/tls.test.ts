import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Message, Peer, TestController } from '../transport/tls/controller.ts';
import { createTlsWorld } from '../transport/tls/world.ts';
import { burrow, type Daemon, startDaemon, temporaryDirectory, until } from './daemon.ts';

const world = createTlsWorld();
const { controller } = world;

function dialOut(url: string, more: { env?: Record<string, string>; args?: string[] } = {}): Daemon {
  const stateDir = temporaryDirectory();
  return startDaemon({
    args: ['--gateway-id', 'host-1', '--ca', world.authority.certFile, ...(more.args ?? [])],
    env: {
      BURROW_GATEWAY_CONTROLLER_URL: url,
      BURROW_GATEWAY_STATE_DIR: stateDir,
      BURROW_GATEWAY_ENROLLMENT_TOKEN: 'enrollment-token',
      ...more.env,
    },
  });
}

function isAnswerTo(id: unknown): (message: Message) => boolean {
  return (message) => message.requestId === id && message.type !== 'accepted';
}

describe('burrow daemon --controller', () => {
  it('takes work over TLS and never speaks on stdout', async () => {
    const far = await controller();
    const daemon = dialOut(far.url);
    const peer = await far.next();
    await peer.admit('c1');
    peer.send({
      id: 1,
      method: 'process.exec',
      params: {
        command: 'env | grep -c BURROW_GATEWAY; echo "$T"',
        operationId: 'op',
        protectedValues: { T: 'S3CR3T' },
        protectedDelivery: { gatewayId: 'host-1', connectionId: 'c1', requestId: 1, operationId: 'op' },
      },
    });
    const { outcome } = (await peer.waitFor(isAnswerTo(1))).result;
    expect(outcome.stdout).toBe('0\n[redacted]\n');
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(daemon.envelopes).toEqual([]);
    expect(daemon.stderr()).toContain(`Connected to controller ${far.url}`);
    expect(daemon.stderr()).not.toMatch(/S3CR3T|enrollment-token/);
  });

  it.each<[string, { args?: string[]; env?: Record<string, string> }]>([
    ['the flag', { args: ['--controller-server-name', 'localhost'] }],
    ['the variable', { env: { BURROW_GATEWAY_CONTROLLER_SERVER_NAME: 'localhost' } }],
  ])('asks for the server name of %s', async (_name, more) => {
    const far = await controller();
    const daemon = dialOut(far.url, more);
    const peer = await far.next();
    expect(peer.socket.servername).toBe('localhost');
    await peer.admit('c1');
    await until('it is connected', () => daemon.stderr().includes(`Connected to controller ${far.url}`));
  });

  it('sends the evidence of what a stop cancels', async () => {
    const far = await controller();
    const daemon = dialOut(far.url);
    const peer = await far.next();
    await peer.admit('c1');
    peer.send({ id: 1, method: 'process.exec', params: { command: 'sleep 60', operationId: 'op' } });
    await peer.waitFor((message) => message.type === 'accepted');
    daemon.child.kill('SIGTERM');
    expect((await peer.waitFor(isAnswerTo(1))).result.outcome).toMatchObject({
      cancelled: true,
      signal: 'SIGTERM',
    });
    expect((await daemon.ended).code).toBe(0);
  });

  it.each<[string, (far: TestController) => Promise<unknown>]>([
    ['waits for a challenge', (far) => far.next()],
    ['waits for the answer to its proof', async (far) => (await far.next()).challenge()],
    ['waits to try again', async (far) => (await far.next()).socket.destroy()],
  ])('ends at once when it %s', async (_name, reach) => {
    const far = await controller();
    const daemon = dialOut(far.url);
    await reach(far);
    const startedAtMs = performance.now();
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  });

  it('ends at once in the middle of a handshake', async () => {
    const sockets: { destroy(): void }[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const daemon = dialOut(`tls://127.0.0.1:${(silent.address() as { port: number }).port}`);
    await until('it connects', () => sockets.length > 0);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  it('runs each of 100 operations once although the line is cut 100 times; every outcome is recovered', async () => {
    const far = await controller();
    const directory = temporaryDirectory();
    dialOut(far.url);
    const outcomes = new Map<string, string>();
    const send = (peer: Peer): void => {
      for (let index = 0; index < 100; index += 1) {
        const operationId = `op-${index}`;
        if (outcomes.has(operationId)) continue;
        const command = `echo ran >> ${directory}/${index}; sleep ${(index % 40) / 10}; echo out-${index}`;
        peer.send({ id: operationId, method: 'process.exec', params: { command, operationId } });
      }
    };
    const collect = (peer: Peer): void => {
      for (const message of peer.messages) {
        if (message.type === 'response' && message.ok)
          outcomes.set(message.requestId, message.result.outcome.stdout);
      }
    };
    for (let cut = 0; cut <= 100 || outcomes.size < 100; cut += 1) {
      const peer = await far.next();
      await peer.admit(`c${cut}`);
      send(peer);
      // Some lines live long enough for answers, others not long enough for the requests.
      await Promise.race([peer.closed, delay((cut % 4) * 15 + (cut > 100 ? 300 : 0))]);
      collect(peer);
      for (const socket of far.sockets) socket.resetAndDestroy();
    }
    for (let index = 0; index < 100; index += 1) {
      expect(outcomes.get(`op-${index}`)).toBe(`out-${index}\n`);
      expect(readFileSync(join(directory, String(index)), 'utf8')).toBe('ran\n');
    }
  }, 60_000);
});

describe('a configuration that cannot work', () => {
  const ENV = { BURROW_GATEWAY_CONTROLLER_URL: 'tls://127.0.0.1:1', BURROW_GATEWAY_ID: 'host-1' };

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['a URL of another scheme', ['--controller', 'https://x'], {}, /"https:\/\/x" is not of the form tls:/],
    [
      'a server name that is an address',
      ['--controller-server-name', '127.0.0.1'],
      {},
      /Server name "127\.0\.0\.1" .+ is an IP address/,
    ],
    ['no gateway id', [], { BURROW_GATEWAY_ID: '' }, /BURROW_GATEWAY_ID/],
    ['no state directory', [], { STATE: 'none' }, /BURROW_GATEWAY_STATE_DIR/],
    [
      'a state directory that is a file',
      [],
      { BURROW_GATEWAY_STATE_DIR: '/etc/passwd' },
      /state directory "\/etc\/passwd"/,
    ],
    ['a CA file that does not exist', ['--ca', '/nowhere'], {}, /CA file "\/nowhere" cannot be read/],
    ['a CA file without certificates', ['--ca', '/etc/passwd'], {}, /holds no certificate/],
    ['a certificate without its key', ['--cert', '/etc/passwd'], {}, /belong together/],
    [
      'a token with a line end',
      [],
      { BURROW_GATEWAY_ENROLLMENT_TOKEN: 'tok-en\r' },
      /7 characters, sha256 [0-9a-f]{12}/,
    ],
    ['a socket path that is taken', ['--socket', '/etc/passwd'], {}, /not a socket/],
  ])('ends with one line and status 78: %s', (_name, args, env, message) => {
    const BURROW_GATEWAY_STATE_DIR = env['STATE'] === 'none' ? undefined : temporaryDirectory();
    const ended = burrow(['daemon', ...args], { env: { ...ENV, BURROW_GATEWAY_STATE_DIR, ...env } });
    expect(ended.status).toBe(78);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
    expect(ended.stderr).not.toContain('tok-en');
    expect(ended.stdout).toBe('');
  });

  it('is a certificate with the key of another', () => {
    const other = world.authority.issue('other');
    const args = ['daemon', '--cert', world.issued.certFile, '--key', other.keyFile];
    const ended = burrow(args, { env: { ...ENV, BURROW_GATEWAY_STATE_DIR: temporaryDirectory() } });
    expect([ended.status, ended.stderr]).toEqual([78, expect.stringContaining('cannot be used together')]);
  });

  it.each(['a$b', 'a"b', 'a#b', 'a\\b', 'clé'])('is not a token such as %s', async (token) => {
    const far = await controller();
    dialOut(far.url, { env: { BURROW_GATEWAY_ENROLLMENT_TOKEN: token } });
    const { hmacProof } = await import('../../src/protocol/auth.ts');
    const { proof } = await (await far.next()).challenge();
    expect(proof).toBe(hmacProof(token, { gatewayId: 'host-1', nonce: '0123456789abcdef' }));
  });
});

describe('the state directory', () => {
  it('holds nothing that others can read', async () => {
    const far = await controller();
    const directory = join(temporaryDirectory(), 'state');
    mkdirSync(directory, { mode: 0o700 });
    const daemon = dialOut(far.url, { env: { BURROW_GATEWAY_STATE_DIR: directory } });
    await (await far.next()).admit('c1');
    await until('trust is on record', () =>
      readdirSync(directory).includes('controller-enrollment-consumed'),
    );
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    const { statSync } = await import('node:fs');
    for (const name of readdirSync(directory))
      expect([name, statSync(join(directory, name)).mode & 0o077]).toEqual([name, 0]);
  });
});
