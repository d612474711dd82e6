import { createConnection, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/support/clock.ts';
import { createBackoff } from '../../../src/transport/tls/backoff.ts';
import { parseControllerUrl } from '../../../src/transport/tls/controller-url.ts';
import { readKernelDelivery, watchPeer } from '../../../src/transport/tls/peer-watch.ts';

describe('parseControllerUrl()', () => {
  it.each([
    [
      'tls://Control.example',
      {
        host: 'control.example',
        port: 443,
        serverName: 'control.example',
        text: 'tls://control.example:443',
      },
    ],
    ['tls://control.example:8443/', { port: 8443, text: 'tls://control.example:8443' }],
    ['tls://10.0.0.1', { host: '10.0.0.1', serverName: undefined }],
    ['tls://[::1]:99', { host: '::1', port: 99, serverName: undefined, text: 'tls://[::1]:99' }],
  ])('reads %s', (text, address) => {
    expect(parseControllerUrl(text)).toMatchObject(address);
  });

  it.each([
    '',
    'control.example:443',
    'https://control.example',
    'tls://',
    'tls://h:0',
    'tls://h:99999',
    'tls://h/path',
    'tls://h?x',
    'tls://u:pass@h',
  ])('refuses "%s"', (text) => {
    expect(() => parseControllerUrl(text)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });

  it.each([
    ['Control.Example', 'control.example'],
    ['control.example.', 'control.example'],
    ['a_b.internal', 'a_b.internal'],
    ['localhost', 'localhost'],
  ])('asks for the server name %s wherever it dials', (given, serverName) => {
    expect(parseControllerUrl('tls://10.0.0.1:8443', given)).toEqual({
      ...{ host: '10.0.0.1', port: 8443, text: 'tls://10.0.0.1:8443' },
      ...{ serverName, certificateName: serverName },
    });
  });

  it('does not send the dot that ends a full name', () => {
    expect(parseControllerUrl('tls://control.example.')).toMatchObject({ serverName: 'control.example' });
  });

  it.each([
    ...['10.0.0.1', '::1', '[::1]', '', '.', 'a..b', '*.example', 'tls://x', 'x:443', '-a', 'a-', 'a b'],
    ...['a\u0000b', 'clé.example', 'x'.repeat(64), 'x.'.repeat(130)],
  ])('refuses the server name "%s"', (name) => {
    expect(() => parseControllerUrl('tls://h', name)).toThrow(
      expect.objectContaining({ name: 'ConfigurationError' }),
    );
  });

  it('never quotes a password', () => {
    for (const text of ['http://u:pass@h', 'tls://u:pass@h']) {
      expect(() => parseControllerUrl(text)).toThrow(/^(?!.*pass)/);
    }
  });
});

describe('createBackoff()', () => {
  it('spreads 200 hosts over most of each delay', () => {
    const hosts = Array.from({ length: 200 }, () => createBackoff(Math.random));
    const tenth = hosts.map((host) => Array.from({ length: 10 }, () => host.nextDelayMs()).at(-1) ?? 0);
    expect(Math.min(...tenth)).toBeGreaterThanOrEqual(500);
    expect(Math.max(...tenth)).toBeLessThanOrEqual(5_000);
    const perSecond = [1, 2, 3, 4, 5].map(
      (second) => tenth.filter((delay) => Math.ceil(delay / 1_000) === second).length,
    );
    expect(Math.max(...perSecond)).toBeLessThan(80);
  });
});

describe('watchPeer()', () => {
  /** A clock that moves when it is told to. */
  function steppedClock(): Clock & { step(ms: number): void } {
    let nowMs = 0;
    let due: { atMs: number; callback: () => void }[] = [];
    return {
      wallMs: () => nowMs,
      monotonicMs: () => nowMs,
      startTimer(delayMs, callback) {
        const timer = { atMs: nowMs + delayMs, callback };
        due.push(timer);
        return {
          cancel() {
            due = due.filter((other) => other !== timer);
          },
        };
      },
      step(ms) {
        const endMs = nowMs + ms;
        for (
          let next = due.find(({ atMs }) => atMs <= endMs);
          next !== undefined;
          next = due.find(({ atMs }) => atMs <= endMs)
        ) {
          const timer = next;
          due = due.filter((other) => other !== timer);
          nowMs = timer.atMs;
          timer.callback();
        }
        nowMs = endMs;
      },
    };
  }

  /** What is so in each second: bytes written so far, and what the kernel says. */
  interface Second {
    written: number;
    unacknowledged?: number;
    repetitions?: number;
    waiting?: number;
  }

  it.each<[string, (second: number) => Second, boolean]>([
    ['is noticed: the last bytes', () => ({ written: 10, unacknowledged: 10, repetitions: 3 }), true],
    [
      'is noticed: a full line',
      (second) => ({ written: 10 * second, unacknowledged: 99, repetitions: second }),
      true,
    ],
    ['is noticed: no room at the peer, no answer', () => ({ written: 9, waiting: 9, repetitions: 4 }), true],
    [
      'lives: it catches up',
      (second) => ({ written: second, unacknowledged: 5, repetitions: (second / 5) % 3 }),
      false,
    ],
    ['lives: it is slow', (second) => ({ written: second, unacknowledged: 50, waiting: 50 }), false],
    ['lives: all is acknowledged', (second) => ({ written: second, repetitions: 9 }), false],
    ['is not looked at: nothing is sent', () => ({ written: 0, unacknowledged: 1, repetitions: 9 }), false],
  ])('a peer %s', (_name, at, isDead) => {
    const clock = steppedClock();
    const socket = { bytesWritten: 0, writableLength: 0 };
    let now: Second = { written: 0 };
    let deadAtMs: number | undefined;
    const onDead = (): void => {
      deadAtMs ??= clock.monotonicMs();
    };
    const watch = watchPeer(socket as Socket, onDead, {
      clock,
      readDelivery: () => ({
        unacknowledgedBytes: now.unacknowledged ?? 0,
        repetitions: now.repetitions ?? 0,
      }),
    });
    for (let second = 1; second <= 120; second += 1) {
      now = at(second);
      Object.assign(socket, { bytesWritten: now.written, writableLength: now.waiting ?? 0 });
      clock.step(1_000);
    }
    watch.close();
    expect(deadAtMs !== undefined).toBe(isDead);
    if (deadAtMs !== undefined) expect(deadAtMs).toBeLessThanOrEqual(30_000);
  });

  it.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])(
    'asks the kernel about a line to %s',
    async (host) => {
      const accepted = new Set<Socket>();
      const server = createServer((socket) => accepted.add(socket)).listen(0, host);
      await new Promise((resolve) => server.once('listening', resolve));
      const socket = createConnection({ host, port: (server.address() as { port: number }).port });
      onTestFinished(() => {
        for (const other of accepted) other.destroy();
        socket.destroy();
        server.close();
      });
      await new Promise((resolve) => socket.once('connect', resolve));
      expect(readKernelDelivery(socket)).toEqual({ unacknowledgedBytes: 0, repetitions: 0 });
    },
  );
});
