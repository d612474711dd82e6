import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, type Daemon, processesWith, startDaemon, temporaryDirectory, until } from './daemon.ts';

const STOP_LIMIT_MS = 3_000;

async function startStubborn(daemon: Daemon, mark: string): Promise<void> {
  const command = `trap '' TERM; sh -c "trap '' TERM; while :; do sleep ${mark}; done" & while :; do sleep ${mark}; done`;
  const params = { operationId: 'stubborn', command, timeoutMs: 60_000 };
  daemon.send({ id: 'stubborn', method: 'process.exec', params });
  await until('it runs', () => processesWith(mark).length >= 3);
}

describe('burrow daemon', () => {
  it('answers what runs at the end of its input, then exits 0', async () => {
    const daemon = startDaemon();
    for (const id of ['a', 'b'])
      daemon.send({
        id,
        method: 'process.exec',
        params: { operationId: id, command: `sleep .3; echo ${id}` },
      });
    daemon.end();

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    for (const id of ['a', 'b']) {
      expect((await daemon.answer(id)).result.outcome).toMatchObject({ stdout: `${id}\n`, exitCode: 0 });
    }
  });

  it.each([
    ['SIGTERM', '3081'],
    ['SIGINT', '3082'],
    ['SIGHUP', '3086'],
  ] as const)('ends within its limit on %s, with evidence and no process left', async (signal, mark) => {
    const args = ['--state-dir', temporaryDirectory()];
    const daemon = startDaemon({ args });
    await startStubborn(daemon, mark);
    const startedAt = Date.now();
    daemon.child.kill(signal);
    daemon.child.kill(signal);

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedAt).toBeLessThan(STOP_LIMIT_MS);
    expect(processesWith(mark)).toEqual([]);
    const { result } = await daemon.answer('stubborn');
    expect(result.outcome).toMatchObject({ cancelled: true, killed: true, timedOut: false });
    expect(daemon.envelopes.map(({ type }) => type)).toEqual(['accepted', 'process.terminal', 'response']);
  });

  it('refuses new work with stopping after shutdown, still answers, and exits 0', async () => {
    const daemon = startDaemon();
    await startStubborn(daemon, '3083');
    daemon.send({ id: 's', method: 'shutdown' });
    daemon.send({ id: 'late', method: 'process.exec', params: { command: 'true' } });
    daemon.send({ id: 'h', method: 'health' });

    expect((await daemon.answer('s')).result).toEqual({ stopping: true, activeOperations: ['stubborn'] });
    expect(await daemon.answer('late')).toMatchObject({
      type: 'response',
      ok: false,
      error: { code: 'stopping', retryable: true },
    });
    expect((await daemon.answer('h')).result.status).toBe('stopping');
    expect((await daemon.answer('stubborn')).result.outcome.cancelled).toBe(true);
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(processesWith('3083')).toEqual([]);
  });

  it('ends with its reader: what runs is cancelled', async () => {
    const daemon = startDaemon();
    const params = { command: 'while :; do echo x; sleep .05; done; sleep 3084' };
    daemon.send({ id: 1, method: 'process.exec', params });
    await daemon.waitFor('output', ({ type }) => type === 'process.stream');
    daemon.child.stdout?.destroy();

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(processesWith('3084')).toEqual([]);
  });

  it('does not wait beyond its limit for a reader that does not read', async () => {
    const daemon = startDaemon();
    daemon.child.stdout?.pause();
    const command = 'yes 3085 | cat';
    daemon.send({ id: 1, method: 'process.exec', params: { command, maxOutputBytes: 1_000_000_000 } });
    await until('output is stuck', () => (daemon.child.stdout?.readableLength ?? 0) > 0);
    const startedAt = Date.now();
    daemon.child.kill('SIGTERM');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(Date.now() - startedAt).toBeLessThan(STOP_LIMIT_MS + 500);
    expect(processesWith('3085')).toEqual([]);
  });

  it('waits at the end of its input for a slow reader', async () => {
    const daemon = startDaemon();
    daemon.child.stdout?.pause();
    const params = { command: 'head -c 2000000 /dev/zero', maxOutputBytes: 2_000_000 };
    daemon.send({ id: 1, method: 'process.exec', params });
    daemon.end();
    await until('output is stuck', () => (daemon.child.stdout?.readableLength ?? 0) > 0);
    daemon.child.stdout?.resume();

    expect((await daemon.answer(1)).result.outcome.stdoutBytes).toBe(2_000_000);
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  });

  it.each(['/dev/null', '/'])('exits 0 at once when its stdin is %s', async (path) => {
    const child = spawn(BURROW, ['daemon'], { stdio: [openSync(path, 'r'), 'pipe', 'pipe'] });

    expect(await endOf(child)).toEqual({ code: 0, output: '' });
  });

  it('runs with its stdin closed', async () => {
    const child = spawn('/bin/sh', ['-c', `exec ${BURROW} daemon <&-`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });

    expect(await endOf(child)).toEqual({ code: 0, output: '' });
  });

  it('holds on to no descriptor and no child after its operations', async () => {
    const daemon = startDaemon();
    await daemon.exec({ command: 'true', operationId: 'first' });
    const descriptors = daemon.exec({ command: `ls /proc/${daemon.pid}/fd | wc -l`, operationId: 'before' });
    const before = Number((await descriptors).result.outcome.stdout);
    for (let n = 0; n < 100; n += 1)
      daemon.send({
        id: n,
        method: 'process.exec',
        params: { operationId: `n${n}`, command: 'echo a; echo b >&2' },
      });
    for (let n = 0; n < 100; n += 1) await daemon.answer(n);
    const after = await daemon.exec({
      command: `ls /proc/${daemon.pid}/fd | wc -l`,
      operationId: 'after',
    });

    expect(Number(after.result.outcome.stdout)).toBeLessThanOrEqual(before);
  });
});

async function endOf(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk));
  const [code] = await once(child, 'close');
  return { code, output };
}
