import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, burrow, memoryMiB, processesWith, temporaryDirectory, until } from './daemon.ts';

const SHA256_OF_HI = createHash('sha256').update('hi\n').digest('hex');

interface Started {
  child: ChildProcess;
  output(): string;
  ended: Promise<{ code: number | null; signal: string | null }>;
}

function start(args: readonly string[]): Started {
  const child = spawn(BURROW, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk));
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  return { child, output: () => output, ended };
}

describe('burrow exec', () => {
  it.each<[string, string[], number]>([
    ['0', ['--', 'true'], 0],
    ['the status of the command', ['--', 'sh', '-c', 'exit 3'], 3],
    ['the status of the shell string', ['-c', 'exit 42'], 42],
    ['128 and the signal', ['-c', 'kill -9 $$'], 137],
    ['124 after its timeout', ['--timeout', '100ms', '--', 'sleep', '5'], 124],
    ['124 after its deadline', ['--deadline', '2001-01-01T00:00:00Z', '--', 'true'], 124],
    ['125 for a directory that is missing', ['--cwd', '/nope', '--', 'true'], 125],
    ['126 for a file that cannot be run', ['--', '/etc/passwd'], 126],
    ['126 for a directory', ['--', '/etc'], 126],
    ['127 for a program that is missing', ['--', 'no-such-program'], 127],
    ['127 for a path that is missing', ['--', '/no/such/program'], 127],
    ['2 without a command', [], 2],
    ['2 for an empty command', ['--', ''], 2],
    ['2 for an unknown flag', ['--tiemout', '5s', '--', 'true'], 2],
    ['2 for a wrong duration', ['--timeout', 'soon', '--', 'true'], 2],
    ['2 for a wrong size', ['--max-output', '0', '--', 'true'], 2],
    ['2 for a wrong time', ['--deadline', 'tomorrow', '--', 'true'], 2],
    ['2 for a wrong variable', ['--env', 'NAME', '--', 'true'], 2],
    ['2 for a zero byte in the environment name', ['--env', '=x', '--', 'true'], 2],
    ['2 for two forms', ['-c', 'true', '--', 'true'], 2],
    ['2 for a command before --', ['true'], 2],
    ['2 for an operation id that is too long', ['--operation-id', 'x'.repeat(257), '--', 'true'], 2],
  ])('exits with %s', (_, args, status) => {
    const ran = burrow(['exec', ...args]);

    expect(ran.status).toBe(status);
    expect(ran.stderr).not.toMatch(/\n\s+at |Warning|node:/);
    if (status === 0) expect(ran.stderr).toBe('');
    if (status === 2 || status > 124) expect(ran.stderr).toMatch(/^(burrow: .*\n)*$/);
  });

  it('keeps stdout and stderr apart and adds nothing', () => {
    expect(burrow(['exec', '-c', 'echo out; echo err >&2; exit 5'])).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      status: 5,
    });
  });

  it('passes arguments behind -- as they are', () => {
    const args = ['--help', '-c', '', 'a b', '$HOME', '*', 'é😀', '--'];

    expect(burrow(['exec', '--', 'printf', '%s\\n', ...args]).stdout).toBe(`${args.join('\n')}\n`);
  });

  it.each(['exec -- printf %s', 'fs inspect', 'client cancel', ''])(
    'refuses bytes that are not UTF-8: %s',
    (command) => {
      // A shell makes the bytes: Node.js starts programs with text alone.
      const ran = spawnSync('/bin/sh', ['-c', `exec ${BURROW} ${command} "$(printf '/tmp/\\377')"`], {
        encoding: 'utf8',
      });

      expect([ran.status, ran.stdout]).toEqual([2, '']);
      expect(ran.stderr).toMatch(/^burrow: Argument "\/tmp\/\ufffd" is not UTF-8 text.*\nburrow: .*\n$/);
    },
  );

  it('passes a U+FFFD that was typed', () => {
    expect(burrow(['exec', '--', 'printf', '%s', 'a\ufffdb', ''])).toMatchObject({
      stdout: 'a\ufffdb',
      status: 0,
    });
  });

  it('gives a variable that is not UTF-8 with U+FFFD for its bytes, as docs/protocol.md says', () => {
    const script = `X=$(printf 'caf\\351') exec ${BURROW} exec -- printenv X`;

    expect(spawnSync('/bin/sh', ['-c', script], { encoding: 'buffer' }).stdout.toString('hex')).toBe(
      Buffer.from('caf\ufffd\n').toString('hex'),
    );
  });

  it('sets environment and directory', () => {
    const directory = temporaryDirectory();
    const ran = burrow(['exec', '--env', 'A=', '--env', 'A=b=c', '--cwd', directory, '-c', 'echo "$A"; pwd']);

    expect(ran.stdout).toBe(`b=c\n${directory}\n`);
  });

  it('starts in a relative --cwd from where it was called', () => {
    expect(burrow(['exec', '--cwd', '..', '--', 'pwd'], { cwd: '/usr/bin' }).stdout).toBe('/usr\n');
  });

  it('prints the evidence alone with --json, and exits as the command did', () => {
    const ran = burrow(['exec', '--json', '-c', 'echo hi; exit 4']);

    expect(ran).toMatchObject({ stderr: '', status: 4 });
    expect(ran.stdout.endsWith('}\n')).toBe(true);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      type: 'process.result',
      exitCode: 4,
      stdout: 'hi\n',
      stdoutDigest: SHA256_OF_HI,
    });
  });

  it('adds a summary on stderr with --evidence', () => {
    const ran = burrow(['exec', '--evidence', '--', 'echo', 'hi']);

    expect(ran.stdout).toBe('hi\n');
    expect(ran.stderr).toMatch(/^(burrow: \w+ +.*\n){6}$/);
    expect(ran.stderr).toContain(SHA256_OF_HI.slice(0, 16));
  });

  it('says why an output was cut', () => {
    const ran = burrow(['exec', '--max-output', '10', '--', 'yes']);

    expect(ran).toMatchObject({ stdout: 'y\n'.repeat(5), status: 143 });
    expect(ran.stderr).toContain('--max-output');
  });

  it('says that an output was cut although the command ended well', () => {
    const ran = burrow(['exec', '--max-output', '5', '-c', "trap '' TERM; echo hello world; exit 0"]);

    expect(ran).toMatchObject({ stdout: 'hello', status: 0 });
    expect(ran.stderr).toMatch(/^burrow: Output was cut .*--max-output\)\n$/);
  });

  it('passes large output byte for byte', () => {
    const file = join(temporaryDirectory(), 'large');
    writeFileSync(file, randomBytes(12_000_000).toString('base64'));
    const script = `${BURROW} exec --max-output 1GiB -- cat ${file} | cmp - ${file} && ${BURROW} exec --max-output 1GiB -c 'cat ${file} >&2' 2>&1 >/dev/null | cmp - ${file}`;

    expect(burrow(['exec', '--', 'sh', '-c', script])).toMatchObject({ stdout: '', status: 0 });
  });

  it.each([
    ['ends at once', 'yes 3091'],
    ['ignores SIGTERM', "trap '' TERM; while :; do echo 3091; done"],
  ])('ends a command that %s when its reader goes away', async (_, command) => {
    const { child, ended } = start(['exec', '--max-output', '1GiB', '-c', command]);
    await once(child.stdout ?? child, 'data');
    child.stdout?.destroy();

    expect(await ended).toEqual({ code: 130, signal: null });
    expect(processesWith('3091')).toEqual([]);
  });

  it('holds a command back while its reader does not read', async () => {
    const { child, ended } = start(['exec', '--max-output', '1GiB', '-c', 'head -c 300M /dev/zero']);
    child.stdout?.pause();
    await until('output is stuck', () => (child.stdout?.readableLength ?? 0) > 0);
    let bytes = 0;
    child.stdout
      ?.removeAllListeners('data')
      .on('data', (chunk: Buffer) => (bytes += chunk.length))
      .resume();
    await until('a lot is read', () => bytes > 200_000_000);
    expect(memoryMiB(child.pid ?? 0, 'VmHWM')).toBeLessThan(160);

    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('cancels its command on %s and waits for its end', async (signal, code) => {
    const { child, ended, output } = start([
      'exec',
      '-c',
      "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep .05; done; : 3092",
    ]);
    await until('it is up', () => output().includes('up'));
    child.kill(signal);

    expect(await ended).toEqual({ code, signal: null });
    expect(output()).toBe('up\nbye\n');
    expect(processesWith('3092')).toEqual([]);
  });

  it('leaves nothing behind either when it is interrupted again and again', async () => {
    const { child, ended, output } = start([
      'exec',
      '-c',
      "trap '' TERM; echo up; while :; do sleep .1; done; : 3095",
    ]);
    await until('it is up', () => output().includes('up'));
    await until('it has ended', () => {
      child.kill('SIGINT');
      return child.exitCode !== null || child.signalCode !== null;
    });

    expect(await ended).toEqual({ code: 130, signal: null });
    expect(processesWith('3095')).toEqual([]);
  });

  it.each(['exec', 'version', 'client hello'])('fails when %s cannot write its output', (command) => {
    const rest = command === 'exec' ? '-- echo hi' : '';
    const ran = burrow(['exec', '-c', `${BURROW} ${command} ${rest} > /dev/full`]);

    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain('Cannot write to standard output (ENOSPC)');
  });

  it('runs where its directory was removed, and reads no stdin', () => {
    const directory = join(temporaryDirectory(), 'gone');
    const script = `mkdir ${directory}; cd ${directory}; rmdir ${directory}; echo x | ${BURROW} exec -- cat; pwd >&2`;

    expect(burrow(['exec', '-c', script])).toMatchObject({ stdout: '', status: 0 });
  });

  it('starts a script by its first line, and says what is missing there', () => {
    const directory = temporaryDirectory();
    const good = join(directory, 'good');
    const bad = join(directory, 'bad');
    writeFileSync(good, '#!/bin/sh\necho "$@"\n');
    writeFileSync(bad, '#!/no/such/interpreter\n');
    chmodSync(good, 0o755);
    chmodSync(bad, 0o755);

    expect(burrow(['exec', '--', good, 'a']).stdout).toBe('a\n');
    const ran = burrow(['exec', '--', bad]);
    expect(ran.status).toBe(127);
    expect(ran.stderr).toContain('/no/such/interpreter');
  });
});
