import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fastClock, startLink } from './gateway.ts';
import { createTlsWorld } from './world.ts';

const world = createTlsWorld();
const { controller, gatewayOf, connected } = world;

function exec(id: string, params: object): object {
  return { id, method: 'process.exec', params };
}

describe('connectToController()', () => {
  it('serves requests once it is authenticated', async () => {
    const { peer } = await connected();
    peer.send({ id: 'h', method: 'hello' });
    expect((await peer.waitFor((message) => message.requestId === 'h')).result.transport).toBe(
      'tls-jsonl-outbound',
    );
    peer.send(exec('e', { command: 'echo hi', operationId: 'op' }));
    await peer.waitFor((message) => message.requestId === 'e' && message.type === 'response');
    expect(peer.messages.slice(2).map((message) => message.type)).toEqual([
      'accepted',
      'process.stream',
      'process.terminal',
      'response',
    ]);
  });

  it('takes protected values for the connection they are bound to, and never twice', async () => {
    const { far, gateway, peer } = await connected();
    const request = (connectionId: string): object =>
      exec('r', {
        command: 'echo "$T"',
        operationId: 'op',
        protectedValues: { T: 'S3CR3T' },
        protectedDelivery: { gatewayId: 'host-1', connectionId, requestId: 'r', operationId: 'op' },
      });
    peer.send(request('c1'));
    const answer = await peer.waitFor((message) => message.requestId === 'r' && message.type === 'response');
    expect(answer.result.outcome.stdout).toBe('[redacted]\n');
    peer.socket.destroy();
    const next = await far.next();
    await next.admit('c2');
    next.send(request('c1'));
    expect((await next.waitFor((message) => message.requestId === 'r')).error.code).toBe(
      'protected_delivery_binding_invalid',
    );
    next.messages.length = 0;
    next.send(request('c2'));
    expect((await next.waitFor((message) => message.requestId === 'r')).error.code).toBe(
      'protected_redelivery_forbidden',
    );
    expect(JSON.stringify([peer.messages, next.messages, gateway.log])).not.toContain('S3CR3T');
  });

  it('works on while the line is down; the outcome is recovered with the same operation id', async () => {
    const { far, peer } = await connected();
    const file = join(world.directory, 'go');
    const params = {
      command: `echo one; while ! test -e ${file}; do sleep 0.02; done; echo two >> ${file}.ran; echo two`,
      operationId: 'op',
    };
    peer.send(exec('r', params));
    await peer.waitFor((message) => message.data === 'one\n');
    peer.socket.destroy();
    writeFileSync(file, '');
    const next = await far.next();
    await next.admit('c2');
    for (;;) {
      next.messages.length = 0;
      // An id of its own: the first request may still be answered, here, when it ends after the reconnect.
      next.send(exec('again', params));
      const answer = await next.waitFor((message) => message.requestId === 'again');
      if (answer.error?.code === 'operation_in_progress') continue;
      expect(answer.result).toMatchObject({ replay: true, outcome: { stdout: 'one\ntwo\n', exitCode: 0 } });
      break;
    }
  });

  it('lets a running operation speak on the next connection', async () => {
    const { far, peer } = await connected();
    const file = join(world.directory, 'go');
    peer.send(
      exec('r', {
        command: `echo one; while ! test -e ${file}; do sleep 0.02; done; echo two`,
        operationId: 'op',
      }),
    );
    await peer.waitFor((message) => message.data === 'one\n');
    peer.socket.destroy();
    const next = await far.next();
    await next.admit('c2');
    await expect.poll(() => far.peers.length).toBe(2);
    // The answer to a request proves that the gateway took auth.ok.
    next.send({ id: 'h', method: 'health' });
    expect((await next.waitFor((message) => message.requestId === 'h')).result.activeOperations).toEqual([
      'op',
    ]);
    writeFileSync(file, '');
    expect((await next.waitFor((message) => message.type === 'process.terminal')).seq).toBe(3);
  });

  it('runs on an operation that was held back for a reader that went away', async () => {
    const { far, peer } = await connected();
    peer.socket.pause();
    peer.send(
      exec('r', {
        command: 'head -c 30000000 /dev/zero | tr "\\0" x',
        operationId: 'op',
        maxOutputBytes: 100_000_000,
      }),
    );
    await expect
      .poll(() => peer.socket.readableLength + peer.socket.bytesRead, { timeout: 5_000 })
      .toBeGreaterThan(0);
    peer.socket.destroy();
    const next = await far.next();
    await next.admit('c2');
    await expect
      .poll(
        async () => {
          next.messages.length = 0;
          next.send({ id: 'h', method: 'health' });
          return (await next.waitFor((message) => message.requestId === 'h')).result.activeOperations.length;
        },
        { timeout: 10_000 },
      )
      .toBe(0);
  });

  it('answers garbage after authentication and stays', async () => {
    const { peer } = await connected();
    peer.send('{"id":"bad","method":\n');
    expect(await peer.waitFor((message) => message.type === 'error')).toMatchObject({
      requestId: 'bad',
      error: { code: 'invalid_json' },
    });
    peer.send({ id: 'h', method: 'hello' });
    await peer.waitFor((message) => message.requestId === 'h');
  });

  it.each([
    ['a line over 2 MiB', 'x'.repeat(2 * 1024 * 1024 + 10), 'frame_too_large'],
    ['a challenge', '{"type":"auth.challenge","nonce":"0123456789abcdef"}\n', 'unexpected_auth_message'],
  ])('hangs up on %s after authentication', async (_name, text, code) => {
    const { gateway, peer } = await connected();
    peer.send(text);
    expect(await peer.waitFor((message) => message.type === 'transport.error')).toMatchObject({
      ok: false,
      error: { code },
    });
    await peer.closed;
    await gateway.logged(`(${code})`);
  });

  it.each([
    ['unknown_node', 'Node was revoked', 'Node was revoked'],
    ['some\u001b[31m\ncode', 'a\u0007b\u202ec\r\nd', 'a?b?c??d'],
    ['long', 'x'.repeat(10_000), `${'x'.repeat(200)} (long)`],
    ['silent', undefined, 'silent (silent)'],
  ])('logs once why the controller hangs up after authentication: %s', async (code, message, text) => {
    const { far, gateway, peer } = await connected();
    peer.send({ type: 'transport.error', ok: false, error: { code, message } });
    await peer.closed;
    const printable = code.replace(/[\u001b\n]/g, '?');
    expect(await gateway.logged(`(${printable})`)).toContain(`the controller ended the connection: ${text}`);
    expect(gateway.link.health().controller.lastError).toContain(`(${printable})`);
    await (await far.next()).admit('c2');
    expect(gateway.log.filter((line) => line.includes('trying again'))).toHaveLength(1);
    expect(gateway.log.join('')).not.toMatch(/[\u0000-\u001f\u202e]/);
    // Said nothing to it: it is no request.
    expect(peer.messages.map(({ type }) => type)).toEqual(['auth.response']);
  });

  it('takes no request for the end because it quotes one', async () => {
    const { peer } = await connected();
    const command = 'echo \'{"type":"transport.error"}\'';
    peer.send(exec('r', { command, operationId: 'op', note: { type: 'transport.error' } }));
    const answer = await peer.waitFor(({ requestId, type }) => requestId === 'r' && type === 'response');
    expect(answer.result.outcome.stdout).toBe('{"type":"transport.error"}\n');
  });

  it.each([
    ['garbage', '\u0000\u0001garbage\n', 'invalid_auth_message'],
    ['a nonce that is too short', '{"type":"auth.challenge","nonce":"short"}\n', 'invalid_auth_message'],
    ['ok without a challenge', '{"type":"auth.ok","connectionId":"c"}\n', 'unexpected_auth_message'],
    [
      'pairing without a challenge',
      '{"type":"pairing.pending","pairingCode":"c"}\n',
      'unexpected_auth_message',
    ],
    [
      'an answer instead of a challenge',
      '{"type":"auth.response","gatewayId":"c"}\n',
      'unexpected_auth_message',
    ],
    ['a line over 2 MiB', 'x'.repeat(2 * 1024 * 1024 + 10), 'frame_too_large'],
    [
      'a second challenge',
      '{"type":"auth.challenge","nonce":"0123456789abcdef"}\n'.repeat(2),
      'unexpected_auth_message',
    ],
    [
      'pairing after a proof',
      '{"type":"auth.challenge","nonce":"0123456789abcdef"}\n{"type":"pairing.pending","pairingCode":"c"}\n',
      'unexpected_auth_message',
    ],
  ])('hangs up on %s before authentication', async (_name, text, code) => {
    const far = await controller();
    const gateway = await gatewayOf(far.url);
    const peer = await far.next();
    peer.send(text);
    expect(await peer.waitFor((message) => message.type === 'transport.error')).toMatchObject({
      error: { code },
    });
    await peer.closed;
    await gateway.logged(`(${code})`);
    expect(gateway.state('controller-trust.json')).toBeUndefined();
  });

  it('does no work for a request before authentication', async () => {
    const far = await controller();
    const gateway = await gatewayOf(far.url);
    const peer = await far.next();
    const marker = join(world.directory, 'ran');
    peer.send(exec('early', { command: `touch ${marker}` }));
    expect(await peer.waitFor((message) => message.requestId === 'early')).toMatchObject({
      error: { code: 'unauthenticated' },
    });
    await gateway.logged('(unauthenticated)');
    await peer.admit('c1');
    peer.send({ id: 'h', method: 'health' });
    expect((await peer.waitFor((message) => message.requestId === 'h')).result.activeOperations).toEqual([]);
    expect(gateway.state('ran')).toBeUndefined();
  });

  it.each(['auth_failed', 'gateway_already_connected', 'pairing_rejected', 'something_new'])(
    'tells why the controller refused: %s',
    async (code) => {
      const far = await controller();
      const gateway = await gatewayOf(far.url);
      const peer = await far.next();
      await peer.challenge();
      peer.send({ type: 'transport.error', ok: false, error: { code, message: 'No \u001b[31m' } });
      const line = await gateway.logged(`(${code})`);
      expect(line).toContain('refused');
      expect(line).not.toContain('\u001b');
      await far.next();
    },
  );
});

describe('the limit of each stage', () => {
  async function silent(onSocket: (server: Server) => Server): Promise<string> {
    const sockets = new Set<{ destroy(): void }>();
    const server = onSocket(createServer());
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `tls://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  it('ends a peer that accepts TCP and stays silent', async () => {
    const gateway = await gatewayOf(await silent((server) => server), { clock: fastClock });
    await gateway.logged('no TLS handshake within 10 s (ETIMEDOUT)');
  });

  it.each([
    ['says nothing', ''],
    ['sends a byte now and then', '{'],
  ])('ends a peer that finishes TLS and %s', async (_name, drip) => {
    const url = await silent(() =>
      createTlsServer({ cert: world.issued.cert, key: world.issued.key }, (socket) => {
        const timer = setInterval(() => socket.write(drip), 10);
        socket.on('close', () => clearInterval(timer));
        socket.on('error', () => {});
      }),
    );
    const gateway = await gatewayOf(url, { clock: fastClock });
    await gateway.logged('no challenge within 10 s (ETIMEDOUT)');
  });

  it('ends a peer that does not answer the proof', async () => {
    const far = await controller();
    const gateway = await gatewayOf(far.url, { clock: fastClock });
    await (await far.next()).challenge();
    await gateway.logged('no answer to the proof within 10 s (ETIMEDOUT)');
  });

  it('waits for an approval without one', async () => {
    const far = await controller();
    const gateway = await startLink({ url: far.url, directory: world.directory, clock: fastClock });
    const peer = await far.next();
    const { pairingCode } = await peer.challenge();
    peer.send({ type: 'pairing.pending', pairingCode });
    await gateway.logged('Pairing code');
    // Half a minute by the clock of the gateway.
    await delay(300);
    peer.send({ type: 'auth.ok', connectionId: 'c1' });
    await gateway.logged('Connected');
  });
});

describe('coming back', () => {
  it('doubles from 100 ms to 5 s, and starts over after authentication', async () => {
    const far = await controller();
    const gateway = await gatewayOf(far.url, { clock: fastClock, random: () => 1 });
    const delays = (): number[] =>
      gateway.log.flatMap((line) => Number(/again in (\d+) ms/.exec(line)?.[1] ?? []) || []);
    for (let tries = 1; tries <= 8; tries += 1) {
      (await far.next()).socket.destroy();
      await expect.poll(() => delays().length).toBe(tries);
    }
    expect(delays()).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    const peer = await far.next();
    await peer.admit('c1');
    await gateway.logged('Connected');
    peer.socket.destroy();
    await expect.poll(() => delays().at(-1)).toBe(100);
  });

  it('does not stop a stop', async () => {
    const far = await controller();
    const gateway = await gatewayOf(far.url);
    await far.next();
    const startedAtMs = performance.now();
    await gateway.stop();
    expect(performance.now() - startedAtMs).toBeLessThan(500);
  });
});
