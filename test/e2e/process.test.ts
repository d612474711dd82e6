import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryMiB, processesWith, startDaemon, temporaryDirectory, until } from './daemon.ts';

const MIB = 1024 * 1024;

describe('process.exec through the daemon', () => {
  it('ends grandchildren that hold the pipe at the timeout, and keeps what was written', async () => {
    const { result } = await startDaemon().exec({ command: 'printf half; sleep 3071 | cat', timeoutMs: 300 });

    expect(result.outcome).toMatchObject({
      stdout: 'half',
      stderr: '',
      timedOut: true,
      timeoutReason: 'timeoutMs',
      killed: true,
      cancelled: false,
    });
    expect(result.outcome.durationMs).toBeLessThan(1_700);
    expect(processesWith('3071')).toEqual([]);
  });

  it('answers while a background process still holds the pipes, and leaves it alone', async () => {
    const { result } = await startDaemon().exec({ command: 'sleep 3072 & echo up', timeoutMs: 10_000 });

    expect(result.outcome).toMatchObject({ exitCode: 0, stdout: 'up\n', lingering: true, killed: false });
    expect(result.outcome.durationMs).toBeLessThan(2_000);
    const left = processesWith('3072');
    expect(left).toHaveLength(1);
    process.kill(left[0] ?? 0);
  });

  it.each([
    ['missing', 'nope', 'ENOENT'],
    ['a file', 'file', 'ENOTDIR'],
  ])('names a working directory that is %s', async (_, name, errno) => {
    const cwd = join(temporaryDirectory(), name);
    if (name === 'file') writeFileSync(cwd, '');
    const { error } = await startDaemon().exec({ executable: 'true', cwd });

    expect(error).toMatchObject({ code: 'cwd_invalid', errno });
    expect(error.message).toContain(JSON.stringify(cwd));
  });

  it('tells a program that is missing from one that may not be executed', async () => {
    const daemon = startDaemon();
    const plain = join(temporaryDirectory(), 'plain');
    writeFileSync(plain, '#!/bin/sh\n');
    chmodSync(plain, 0o644);

    expect((await daemon.exec({ executable: 'no-such-program' })).error).toMatchObject({ errno: 'ENOENT' });
    expect((await daemon.exec({ executable: plain })).error).toMatchObject({ errno: 'EACCES' });
    expect((await daemon.exec({ executable: 'true', args: ['x'.repeat(200_000)] })).error).toMatchObject({
      code: 'spawn_failed',
      errno: 'E2BIG',
    });
  });

  it('hands odd environment names to a program unchanged', async () => {
    const env = { 'my.key': 'a', '1X': 'b', 'BASH_FUNC_f%%': '() { :; }', number: 1.5, yes: true };
    const { result } = await startDaemon().exec({ executable: 'env', env });

    expect(result.outcome.stdout.split('\n')).toEqual(
      expect.arrayContaining(['my.key=a', '1X=b', 'BASH_FUNC_f%%=() { :; }', 'number=1.5', 'yes=true']),
    );
  });

  it('never lets a child eat the next request, a thousand times', async () => {
    const daemon = startDaemon();
    for (let n = 0; n < 1_000; n += 1) {
      const params = { operationId: `cat-${n}`, command: 'cat; echo done' };
      daemon.send({ id: n, method: 'process.exec', params }, { id: `h${n}`, method: 'health' });
      // As many at once as a small machine takes without waiting for memory.
      if (n % 32 === 31) await daemon.answer(n);
    }
    for (let n = 0; n < 1_000; n += 1) {
      const { result } = await daemon.answer(n);
      if (result.outcome.stdout !== 'done\n' || result.outcome.exitCode !== 0) expect(result).toBe('done');
      await daemon.answer(`h${n}`);
    }
    expect(daemon.envelopes.filter(({ type }) => type === 'BROKEN' || type === 'error')).toEqual([]);
  }, 60_000);

  it('keeps what is private to the daemon from its children, unless the request names it', async () => {
    const hidden = {
      BURROW_GATEWAY_ENROLLMENT_TOKEN: 'token',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=secret',
      NOTIFY_SOCKET: '/run/notify',
      LISTEN_FDS: '1',
      INVOCATION_ID: 'id',
      PKG_EXECPATH: '/x',
    };
    const daemon = startDaemon({ env: { ...hidden, SHOWN: 'yes' } });
    const { result } = await daemon.exec({ executable: 'env', env: { NOTIFY_SOCKET: 'mine' } });
    const lines: string[] = result.outcome.stdout.split('\n');

    expect(lines).toEqual(expect.arrayContaining(['SHOWN=yes', 'NOTIFY_SOCKET=mine']));
    expect(lines.filter((line) => line.split('=')[0] !== 'NOTIFY_SOCKET' && isHidden(line, hidden))).toEqual(
      [],
    );
  });

  it.each(['stdout', 'stderr'] as const)(
    'joins a character that straddles two chunks of %s',
    async (name) => {
      const to = name === 'stderr' ? '>&2' : '';
      const daemon = startDaemon();
      const { result } = await daemon.exec({
        command: `printf '\\342' ${to}; sleep .1; printf '\\202\\254\\n' ${to}; printf '\\342' ${to}`,
      });
      const streamed = daemon.envelopes
        .filter(({ type }) => type === 'process.stream')
        .map(({ data }) => data);

      expect(result.outcome[name]).toBe('€\n\ufffd');
      expect(streamed.join('')).toBe('€\n\ufffd');
      expect(result.outcome).toMatchObject({
        invalidUtf8: true,
        [`${name}Digest`]: createHash('sha256').update('€\n\ufffd').digest('hex'),
      });
    },
  );

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('cuts emoji at %i bytes between two characters', async (cap) => {
    const daemon = startDaemon();
    const { result } = await daemon.exec({ command: "printf '😀😀😀'; sleep 5", maxOutputBytes: cap });

    expect(result.outcome).toMatchObject({ stdout: '😀'.repeat(Math.floor(cap / 4)), truncated: true });
    expect(daemon.envelopes.filter(({ truncated }) => truncated)).toHaveLength(1);
  });

  it('slows a child down whose output nobody reads, in flat memory, and serves on afterwards', async () => {
    const daemon = startDaemon();
    await daemon.ask('health');
    const size = 200 * MIB;
    daemon.child.stdout?.pause();
    daemon.send({
      id: 'big',
      method: 'process.exec',
      params: { command: `head -c ${size} /dev/zero | tr '\\0' x`, maxOutputBytes: 2 * size },
    });
    let before = -1;
    let stillFor = 0;
    await until('the child is blocked', () => {
      const written = bytesWritten(daemon.pid);
      stillFor = written > 0 && written === before ? stillFor + 1 : 0;
      before = written;
      return stillFor > 20;
    });
    expect(memoryMiB(daemon.pid, 'VmHWM')).toBeLessThan(130);

    daemon.child.stdout?.resume();
    const { result } = await daemon.answer('big');
    const streamed = daemon.envelopes.filter(({ type }) => type === 'process.stream');
    expect(streamed.reduce((sum, { data }) => sum + data.length, 0)).toBe(size);
    expect(result.outcome).toMatchObject({ exitCode: 0, stdoutBytes: size, transportTruncated: true });
    expect(memoryMiB(daemon.pid, 'VmHWM')).toBeLessThan(160);
  });

  it('reads 1 GiB beyond a small cap in flat memory', async () => {
    const daemon = startDaemon();
    // Nobody ends at SIGTERM here, so all of it is really read.
    const command = "trap '' TERM; head -c 1G /dev/zero";
    const { result } = await daemon.exec({ command, maxOutputBytes: 64 * 1024, timeoutMs: 60_000 });

    expect(result.outcome).toMatchObject({ exitCode: 0, truncated: true, stdoutBytes: 1024 * MIB });
    expect(memoryMiB(daemon.pid, 'VmHWM')).toBeLessThan(130);
  });

  it.each([2_147_483_648, Number.MAX_SAFE_INTEGER])(
    'waits as long as a timeout of %i ms',
    async (timeoutMs) => {
      const { result } = await startDaemon().exec({ command: 'sleep .3; echo done', timeoutMs });

      expect(result.outcome).toMatchObject({ stdout: 'done\n', timedOut: false, timeoutMs });
    },
  );

  it('starts nothing after its deadline', async () => {
    const mark = join(temporaryDirectory(), 'mark');
    const { result } = await startDaemon().exec({ command: `touch ${mark}`, deadlineMs: 1 });

    expect(result.outcome).toMatchObject({ timedOut: true, timeoutReason: 'deadlineMs', exitCode: null });
    expect(existsSync(mark)).toBe(false);
  });

  it('answers once for a child that closes its output early and lives on', async () => {
    const daemon = startDaemon();
    const { result } = await daemon.exec({ command: 'exec >&- 2>&-; sleep .3; exit 7' });

    expect(result.outcome).toMatchObject({ exitCode: 7, stdout: '' });
    expect(daemon.envelopes.filter(({ type }) => type === 'response')).toHaveLength(1);
  });
});

function isHidden(line: string, hidden: Record<string, string>): boolean {
  return Object.keys(hidden).some((name) => line.startsWith(`${name}=`));
}

/** What the daemon wrote so far, by the kernel's count. */
function bytesWritten(pid: number): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
