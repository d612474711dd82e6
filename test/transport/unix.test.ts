import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createLocalGateway } from '../../src/commands/local-gateway.ts';
import type { System } from '../../src/commands/system.ts';
import { systemClock } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { serveUnix, type UnixServer } from '../../src/transport/unix.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'burrow-unix-'));
  path = join(directory, 's.sock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function serve(at = path): Promise<UnixServer> {
  const system = { env: process.env, cwd: '/', clock: systemClock } as unknown as System;
  const local = await createLocalGateway(system, { journal: { kind: 'memory' }, log: silentLog });
  const server = await serveUnix(local.gateway, { path: at, log: silentLog });
  onTestFinished(async () => {
    await local.gateway.stop();
    await server.close();
  });
  return server;
}

// biome-ignore lint/suspicious/noExplicitAny: frames are looked into by path.
type Frame = any;

interface Client {
  socket: Socket;
  send(message: object | string): void;
  waitFor(matches: (frame: Frame) => boolean): Promise<Frame>;
  closed: Promise<void>;
}

function connect(): Client {
  const socket = createConnection({ path, allowHalfOpen: true });
  const frames: Frame[] = [];
  let pending = '';
  const waiters: (() => void)[] = [];
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) frames.push(JSON.parse(line));
    for (const wake of waiters.splice(0)) wake();
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  onTestFinished(() => void socket.destroy());
  return {
    socket,
    send: (message) =>
      void socket.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
    async waitFor(matches) {
      for (;;) {
        const found = frames.find(matches);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiters.push(resolve));
      }
    },
    closed: new Promise((resolve) => socket.on('close', () => resolve())),
  };
}

const answer = (id: unknown) => (frame: Frame) => frame.requestId === id && frame.type !== 'accepted';

describe('serveUnix()', () => {
  it('makes a socket for owner and group, says its name, and removes it', async () => {
    const umask = process.umask();
    const server = await serve();
    expect(process.umask()).toBe(umask);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    const client = connect();
    client.send({ id: 1, method: 'hello' });
    expect((await client.waitFor(answer(1))).result.transport).toBe('unix-jsonl');
    await server.close();
    await client.closed;
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('serves many clients, each with its own answers', async () => {
    await serve();
    const clients = Array.from({ length: 50 }, connect);
    for (const [index, client] of clients.entries()) {
      client.send({
        id: 'same',
        method: 'process.exec',
        params: { command: `echo ${index}`, operationId: `op-${index}` },
      });
    }
    for (const [index, client] of clients.entries()) {
      expect((await client.waitFor(answer('same'))).result.outcome.stdout).toBe(`${index}\n`);
    }
  });

  it('takes no protected values', async () => {
    await serve();
    const client = connect();
    const protectedDelivery = { gatewayId: '', connectionId: '', requestId: 1, operationId: 'op' };
    client.send({
      id: 1,
      method: 'process.exec',
      params: { command: 'true', operationId: 'op', protectedValues: { A: 'b' }, protectedDelivery },
    });
    expect((await client.waitFor(answer(1))).error.code).toBe('protected_delivery_binding_invalid');
  });

  it('skips a line over 2 MiB and goes on', async () => {
    await serve();
    const client = connect();
    client.send(`{"id":"big","x":"${'y'.repeat(2 * 1024 * 1024)}"}\n`);
    expect((await client.waitFor(answer('big'))).error.code).toBe('frame_too_large');
    client.send({ id: 2, method: 'hello' });
    await client.waitFor(answer(2));
  });

  it('answers what a client asked before it ended its side, then hangs up', async () => {
    await serve();
    const client = connect();
    client.send({ id: 1, method: 'process.exec', params: { command: 'sleep 0.1; echo hi' } });
    client.socket.end();
    expect((await client.waitFor(answer(1))).result.outcome.stdout).toBe('hi\n');
    await client.closed;
  });

  it('leaves the operations of a client that went away running, and keeps their outcome', async () => {
    await serve();
    const request = {
      id: 1,
      method: 'process.exec',
      params: { command: 'echo a; sleep 0.3; echo b', operationId: 'op' },
    };
    const first = connect();
    first.send(request);
    await first.waitFor((frame) => frame.type === 'process.stream');
    first.socket.destroy();
    const second = connect();
    await expect
      .poll(async () => {
        const id = performance.now();
        second.send({ ...request, id });
        return (await second.waitFor(answer(id))).result?.outcome.stdout;
      })
      .toBe('a\nb\n');
  });

  it('holds back the operations of a slow reader alone', async () => {
    await serve();
    const [slow, quick] = [connect(), connect()];
    const endless = { command: 'yes', maxOutputBytes: 500_000_000, timeoutMs: 60_000 };
    slow.send({ id: 1, method: 'process.exec', params: { ...endless, operationId: 'slow' } });
    await slow.waitFor((frame) => frame.type === 'accepted');
    slow.socket.pause();
    quick.send({ id: 2, method: 'process.exec', params: { command: 'echo quick' } });
    expect((await quick.waitFor(answer(2))).result.outcome.stdout).toBe('quick\n');
    quick.send({ id: 3, method: 'cancel', params: { operationId: 'slow' } });
    expect((await quick.waitFor(answer(3))).result.cancelling).toBe(true);
  });

  it('replaces a socket that nobody answers on', async () => {
    const dead = createServer().listen(path);
    await new Promise((resolve) => dead.once('listening', resolve));
    // A process that is killed leaves its socket behind; closing would remove it.
    const kept = join(directory, 'kept');
    const { linkSync } = await import('node:fs');
    linkSync(path, kept);
    await new Promise((resolve) => dead.close(resolve));
    linkSync(kept, path);
    expect(lstatSync(path).isSocket()).toBe(true);
    await serve();
    const client = connect();
    client.send({ id: 1, method: 'hello' });
    await client.waitFor(answer(1));
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a living server', () => serve(), /in use: another daemon/],
    ['a file', () => writeFileSync(path, 'kept'), /not a socket/],
    ['a directory', () => mkdirSync(path), /not a socket/],
    ['a directory that everyone can write to', () => chmodSync(directory, 0o777), /everyone/],
    ['a directory that does not exist', () => rmSync(directory, { recursive: true }), /ENOENT/],
  ])('refuses %s', async (_name, prepare, message) => {
    await prepare();
    await expect(serve()).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringMatching(message),
    });
  });

  it('refuses a path that the system would cut off', async () => {
    await expect(serve(join(directory, 'x'.repeat(120)))).rejects.toMatchObject({
      name: 'ConfigurationError',
    });
  });
});
