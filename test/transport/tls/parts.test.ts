import { createConnection, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/support/clock.ts';
import { createBackoff } from '../../../src/transport/tls/backoff.ts';
import { parseControllerUrl } from '../../../src/transport/tls/controller-url.ts';
import { readKernelRepetitions, watchPeer } from '../../../src/transport/tls/peer-watch.ts';

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

  it.each<
    [
      string,
      (second: number) => Partial<Record<'bytesRead' | 'bytesWritten' | 'repetitions', number>>,
      boolean,
    ]
  >([
    [
      'what is sent is never acknowledged',
      (second) => ({ bytesWritten: 10, repetitions: Math.ceil(second / 5) }),
      true,
    ],
    [
      'the peer speaks now and then',
      (second) => ({ bytesWritten: second, bytesRead: Math.floor(second / 15), repetitions: 3 }),
      false,
    ],
    [
      'it catches up now and then',
      (second) => ({ bytesWritten: second, repetitions: (second / 5) % 3 }),
      false,
    ],
    ['nothing is repeated', (second) => ({ bytesWritten: second }), false],
    ['nothing is sent', () => ({ repetitions: 9 }), false],
  ])('when %s', (_name, at, isDead) => {
    const clock = steppedClock();
    const socket = { bytesRead: 0, bytesWritten: 0 };
    let repetitions = 0;
    let deadAtMs: number | undefined;
    const onDead = (): void => {
      deadAtMs ??= clock.monotonicMs();
    };
    const watch = watchPeer(socket as Socket, onDead, {
      clock,
      readRepetitions: () => repetitions,
    });
    for (let second = 1; second <= 120; second += 1) {
      const now = at(second);
      Object.assign(socket, { bytesRead: now.bytesRead ?? 0, bytesWritten: now.bytesWritten ?? 0 });
      repetitions = now.repetitions ?? 0;
      clock.step(1_000);
    }
    watch.close();
    expect(deadAtMs === undefined ? false : deadAtMs <= 30_000).toBe(isDead);
    expect(deadAtMs !== undefined).toBe(isDead);
  });

  it.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])(
    'reads the count of the kernel for a line to %s',
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
      expect(readKernelRepetitions(socket)).toBe(0);
    },
  );
});
