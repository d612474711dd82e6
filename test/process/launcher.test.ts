import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Child, type LaunchRequest, launchWithNode } from '../../src/process/launcher.ts';
import { until } from './process-table.ts';

interface Launched {
  child: Child | undefined;
  /** What was called, in order: `stdout` (chunks joined), `stdout end`, `exit`, `failed ENOENT`. */
  calls: string[];
  text: { stdout: string; stderr: string };
  /** Exit and both pipe ends were told. */
  over: Promise<void>;
  exit: () => [exitCode: number | null, signal: string | null] | null;
}

function launch(file: string, args: string[], options: Partial<LaunchRequest> = {}): Launched {
  const calls: string[] = [];
  const text = { stdout: '', stderr: '' };
  const over = Promise.withResolvers<void>();
  let exit: [number | null, string | null] | null = null;
  let left = 3;
  const count = (): void => {
    left -= 1;
    if (left === 0) over.resolve();
  };
  const child = launchWithNode(
    { file, args, cwd: '/', env: { PATH: process.env.PATH ?? '' }, stdin: 'null', ...options },
    {
      onChunk(stream, chunk) {
        if (calls.at(-1) !== stream) calls.push(stream);
        text[stream] += chunk.toString('latin1');
      },
      onPipeEnd(stream) {
        calls.push(`${stream} end`);
        count();
      },
      onExit(exitCode, signal) {
        calls.push('exit');
        exit = [exitCode, signal];
        count();
      },
      onFailed: (errno) => calls.push(`failed ${errno}`),
    },
  );
  return { child, calls, text, over: over.promise, exit: () => exit };
}

const EIGHT_MIB = Buffer.alloc(8 * 1024 * 1024, 'x');

describe('launchWithNode()', () => {
  it('gives chunks, the ends of both pipes and the exit', async () => {
    const it = launch('sh', ['-c', 'echo out; echo err >&2; exit 3']);
    await it.over;
    expect(it.text).toEqual({ stdout: 'out\n', stderr: 'err\n' });
    expect(it.exit()).toEqual([3, null]);
    expect(it.calls.indexOf('stdout end')).toBeGreaterThan(it.calls.indexOf('stdout'));
  });

  it.each([
    ['what the system reports later', 'no-such-program', [], 'ENOENT'],
    ['what the system call throws', '/etc/passwd/x', [], 'ENOTDIR'],
    ['too much text', 'true', ['x'.repeat(200_000)], 'E2BIG'],
    ['what Node refuses itself', 'true', ['a\0b'], 'EINVAL'],
  ])('tells of %s after it returned', async (_what, file, args, errno) => {
    const it = launch(file, args);
    expect(it.child).toBeUndefined();
    expect(it.calls).toEqual([]);
    await until(() => it.calls.length > 0);
    expect(it.calls).toEqual([`failed ${errno}`]);
  });

  it('gives the child no inherited entry of its environment', async () => {
    const env: Record<string, string> = Object.create({ INHERITED: 'x' });
    env.OWN = 'y';
    const it = launch('/usr/bin/env', [], { env });
    await it.over;
    expect(it.text.stdout).toBe('OWN=y\n');
  });

  it('signals the group until the child was waited for, and nobody afterwards', async () => {
    const it = launch('sh', ['-c', 'sleep 30 | sleep 30']);
    expect(it.child?.signalGroup('SIGTERM')).toBe(true);
    await it.over;
    expect(it.exit()).toEqual([null, 'SIGTERM']);
    expect(it.child?.signalGroup('SIGTERM')).toBe(false);
    expect(it.child?.signal('SIGTERM')).toBe(false);
  });

  it('holds output back while paused, also when the child has exited', async () => {
    const it = launch('sh', ['-c', 'echo up']);
    it.child?.pause();
    await until(() => it.exit() !== null);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(it.calls).not.toContain('stdout');
    it.child?.resume();
    await it.over;
    expect(it.text.stdout).toBe('up\n');
  });

  it('tells nothing of pipes that were closed', async () => {
    const it = launch('sh', ['-c', 'sleep .1; echo late; exit 0']);
    it.child?.closePipes();
    await until(() => it.exit() !== null);
    expect(it.calls).toEqual(['exit']);
  });

  it('discards output until the pipes end', async () => {
    const it = launch('sh', ['-c', 'head -c 3M /dev/zero']);
    const ended = Promise.withResolvers<void>();
    it.child?.discardOutput(ended.resolve);
    await ended.promise;
    await until(() => it.exit() !== null);
    expect(it.exit()).toEqual([0, null]);
    expect(it.text.stdout).toBe('');
  });
});

describe('stdin of a launched child', () => {
  it('carries megabytes both ways at once', async () => {
    const it = launch('cat', [], { stdin: 'pipe' });
    it.child?.stdin?.write(EIGHT_MIB);
    it.child?.stdin?.end();
    await it.over;
    expect(it.text.stdout.length).toBe(EIGHT_MIB.length);
  });

  it('asks to wait and says when it drained', async () => {
    const it = launch('sh', ['-c', 'sleep .1; cat >/dev/null'], { stdin: 'pipe' });
    const drained = Promise.withResolvers<void>();
    it.child?.stdin?.onDrain(drained.resolve);
    expect(it.child?.stdin?.write(EIGHT_MIB)).toBe(false);
    await drained.promise;
    it.child?.stdin?.end();
    await it.over;
    expect(it.exit()).toEqual([0, null]);
  });

  it.each([
    ['exits without reading', 'exit 0'],
    ['closes it and lives on', 'exec <&-; sleep .2; exit 0'],
    ['reads a part of it', 'head -c 10 >/dev/null; exit 0'],
  ])('survives a child that %s', async (_what, command) => {
    const it = launch('sh', ['-c', command], { stdin: 'pipe' });
    let closed = 0;
    it.child?.stdin?.onClosed(() => {
      closed += 1;
    });
    it.child?.stdin?.write(EIGHT_MIB);
    await it.over;
    await until(() => closed > 0);
    expect(it.exit()).toEqual([0, null]);
    expect(it.child?.stdin?.write('more')).toBe(true);
    it.child?.stdin?.end();
    expect(closed).toBe(1);
  });

  it('does not call a finished input closed early', async () => {
    const it = launch('cat', [], { stdin: 'pipe' });
    let closed = 0;
    it.child?.stdin?.onClosed(() => {
      closed += 1;
    });
    it.child?.stdin?.write('x');
    it.child?.stdin?.end();
    await it.over;
    expect(closed).toBe(0);
  });
});

describe('a program without free descriptors', () => {
  it('is refused with EMFILE, does not lose more each time, and starts again when some are free', async () => {
    const fixture = resolve(import.meta.dirname, '../fixtures/exhaust-descriptors.ts');
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -n 64; exec "$0" "$1"',
      process.execPath,
      fixture,
    ]);
    const lines = stdout.trim().split('\n');
    const [exitCode, lost] = (lines.at(-1) ?? '').split(' ').map(Number);
    expect(lines.slice(0, -1)).toEqual(Array(8).fill('EMFILE'));
    expect(exitCode).toBe(0);
    // Node itself loses some with the first failure.
    expect(lost).toBeLessThan(4);
  });
});
