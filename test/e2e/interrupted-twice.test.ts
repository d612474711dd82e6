// Ctrl-C cancels and waits for the evidence; a second one waits for nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, burrow, processesWith, startDaemon, temporaryDirectory, until } from './daemon.ts';

/** From the first SIGTERM to SIGKILL: KILL_GRACE_MS. */
const GRACE_MS = 1_000;

interface Started {
  child: ChildProcess;
  output(): string;
  ended: Promise<number | string | null>;
}

function start(args: readonly string[]): Started {
  const child = spawn(BURROW, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return { child, output: () => output, ended };
}

/** Tells of SIGTERM and does not end by it. */
function stubborn(mark: string): string {
  return `trap 'echo bye' TERM; echo up; while :; do sleep .02; done; : ${mark}`;
}

async function interruptTwice({
  child,
  output,
  ended,
}: Started): Promise<{ status: unknown; tookMs: number }> {
  await until('it is up', () => output().includes('up'));
  const startedAtMs = performance.now();
  child.kill('SIGINT');
  await until('the first one was taken', () => output().includes('bye'));
  child.kill('SIGINT');
  return { status: await ended, tookMs: performance.now() - startedAtMs };
}

describe('Ctrl-C twice', () => {
  it.each([
    ['exec', (mark: string) => ['exec', '-c', stubborn(mark)], '3101'],
    [
      'client exec',
      (mark: string) => ['client', 'exec', JSON.stringify({ command: stubborn(mark) })],
      '3102',
    ],
  ])('kills what the private gateway of %s runs', async (_, args, mark) => {
    const { status, tookMs } = await interruptTwice(start(args(mark)));

    expect(processesWith(mark)).toEqual([]);
    expect(status).toBe(130);
    expect(tookMs).toBeLessThan(GRACE_MS);
  });

  it('kills what is left of a group whose leader has ended', async () => {
    const command = `(trap '' TERM; while :; do sleep .02; done; : 3103) & trap 'echo bye; exit' TERM; echo up; wait`;
    const { status, tookMs } = await interruptTwice(start(['exec', '-c', command]));

    expect(processesWith('3103')).toEqual([]);
    expect([status, tookMs < GRACE_MS]).toEqual([130, true]);
  });

  it.each([
    ['exec', (mark: string) => ['exec', '-c', stubborn(mark)], '3104'],
    [
      'client exec',
      (mark: string) => ['client', 'exec', JSON.stringify({ command: stubborn(mark) })],
      '3105',
    ],
  ])('leaves the end of it to the daemon: %s --socket', async (_, args, mark) => {
    const socket = join(temporaryDirectory(), 'b.sock');
    const daemon = startDaemon({ args: ['--socket', socket] });
    await until('it listens', () => daemon.stderr().includes('Listening'));
    const { status, tookMs } = await interruptTwice(start([...args(mark), '--socket', socket]));

    expect([status, tookMs < GRACE_MS]).toEqual([130, true]);
    await until('the daemon has ended it', () => processesWith(mark).length === 0);
    const health = JSON.parse(burrow(['client', 'health', '--json', '--socket', socket]).stdout);
    expect(health.activeOperations).toEqual([]);
  });

  it.each([
    ['exec', ['exec', '-c', 'true']],
    ['fs read', ['fs', 'read', '/etc/hostname']],
    ['exec on two hosts', ['exec', '-c', 'true', '--target', 'a', '--target', 'b']],
  ])('leaves a gateway that never answers: %s', async (_, args) => {
    const socket = join(temporaryDirectory(), 'silent.sock');
    let received = '';
    const server = createServer((peer) => {
      peer.on('data', (chunk) => (received += chunk)).on('error', () => {});
    });
    await once(server.listen(socket), 'listening');
    onTestFinished(() => void server.close());
    const { child, output, ended } = start([...args, args.length > 4 ? '--controller' : '--socket', socket]);
    await until('it has asked', () => /execute|process\.exec/.test(received));
    child.kill('SIGINT');
    await until('it has cancelled', () => received.includes('"cancel"'));
    child.kill('SIGINT');

    expect(await ended).toBe(130);
    expect(output()).toMatch(/burrow: Given up before operation "\S+" had ended\n/);
  });

  it('is advised once output waits for a reader who does not read', async () => {
    const child = spawn(BURROW, ['exec', '--max-output', '1GiB', '-c', 'yes 3107'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk));
    const ended = once(child, 'exit');
    await until('it is stuck', () => child.stdout.readableLength > 0);
    child.kill('SIGINT');
    await until('it says what it waits for', () => told.includes('\n'));

    expect(told).toBe('burrow: Output waits for its reader: Ctrl-C again gives up what is not read\n');
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
  });

  it('does not wait for readers who do not read', async () => {
    const child = spawn('/bin/sh', ['-c', `exec ${BURROW} exec --max-output 1GiB -c 'yes 3106' 2>&1`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await until('it is stuck', () => child.stdout.readableLength > 0);
    child.kill('SIGINT');
    await until('the command is gone', () => processesWith('yes\0' + '3106').length === 0);
    child.kill('SIGINT');

    expect(await ended).toEqual([130, null]);
  });
});
