import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChildEnvironment } from '../../src/process/process.ts';
import { exec, run, shell } from './run.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'burrow-process-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('runProcess()', () => {
  it('tells start, output and end in this order', async () => {
    const running = run(shell('echo out; echo err >&2'));
    await running.end;
    expect(running.order[0]).toBe('started');
    expect(running.order.slice(1, -1).sort()).toEqual(['stderr', 'stdout']);
    expect(running.order.at(-1)).toBe('end');
  });

  it('gives evidence of what was asked and what happened', async () => {
    const evidence = await run(exec('printf', ['%s', 'a b'], { cwd: directory, deadlineMs: 4e12 })).end;
    expect(evidence).toMatchObject({
      type: 'process.result',
      cwd: directory,
      effectiveUid: process.geteuid?.(),
      effectiveGid: process.getegid?.(),
      mode: 'exec',
      executable: 'printf',
      args: ['%s', 'a b'],
      command: null,
      exitCode: 0,
      signal: null,
      cancelled: false,
      killed: false,
      truncated: false,
      timedOut: false,
      timeoutReason: null,
      timeoutMs: 10_000,
      deadlineMs: 4e12,
      stdout: 'a b',
      stderr: '',
      stdoutDigest: createHash('sha256').update('a b').digest('hex'),
      stdoutBytes: 3,
      stderrBytes: 0,
    });
    expect(evidence).not.toHaveProperty('lingering');
    expect(evidence).not.toHaveProperty('transportTruncated');
  });

  it.each([
    ['exit 0', 0, null],
    ['exit 3', 3, null],
    ['exit 255', 255, null],
    ['kill -TERM $$', null, 'SIGTERM'],
    ['kill -SEGV $$', null, 'SIGSEGV'],
    ['kill -9 $$', null, 'SIGKILL'],
  ])('reports the end of `%s`', async (command, exitCode, signal) => {
    expect(await run(shell(command)).end).toMatchObject({ exitCode, signal, killed: false });
  });

  it('gives the child an empty stdin', async () => {
    expect(await run(shell('cat; echo done')).end).toMatchObject({ exitCode: 0, stdout: 'done\n' });
  });

  it('starts the child as the leader of a session of its own', async () => {
    const { stdout } = await run(shell('echo $$; cut -d" " -f5,6 /proc/$$/stat')).end;
    const [pid, ids] = stdout.trim().split('\n');
    expect(ids).toBe(`${pid} ${pid}`);
  });

  it('gives the child exactly the environment of the request', async () => {
    const env = createChildEnvironment({
      PATH: process.env.PATH,
      BURROW_GATEWAY_ENROLLMENT_TOKEN: 'secret',
    })([
      ['my.key', 'dotted'],
      ['1X', 'digit'],
      ['__proto__', 'odd'],
      ['BASH_FUNC_f%%', '() { :; }'],
    ]);
    const { stdout } = await run(exec('env', [], { env })).end;
    expect(stdout.trim().split('\n').sort()).toEqual(
      [
        `PATH=${process.env.PATH}`,
        'my.key=dotted',
        '1X=digit',
        '__proto__=odd',
        'BASH_FUNC_f%%=() { :; }',
      ].sort(),
    );
  });

  it.each(['stdout', 'stderr'] as const)(
    'joins a character that straddles two writes on %s',
    async (stream) => {
      const to = stream === 'stderr' ? '>&2' : '';
      const running = run(shell(`printf '\\342' ${to}; sleep .1; printf '\\202\\254\\n' ${to}`));
      const evidence = await running.end;
      expect(evidence[stream]).toBe('€\n');
      expect(running.parts.map((part) => part.data).join('')).toBe('€\n');
      expect(evidence).not.toHaveProperty('invalidUtf8');
    },
  );

  it('replaces a broken tail once and says so', async () => {
    const evidence = await run(shell("printf 'a\\342'")).end;
    expect(evidence).toMatchObject({ stdout: 'a\ufffd', stdoutBytes: 2, invalidUtf8: true });
  });

  it('waits for the process when it closes its output early', async () => {
    const evidence = await run(shell('exec >&- 2>&-; sleep .2; exit 7')).end;
    expect(evidence).toMatchObject({ exitCode: 7 });
    expect(evidence.durationMs).toBeGreaterThanOrEqual(190);
  });
});

describe('runProcess() of what cannot start', () => {
  it.each([
    ['missing', '/nope', 'ENOENT'],
    ['a file', '/etc/passwd', 'ENOTDIR'],
    ['below a file', '/etc/passwd/x', 'ENOTDIR'],
  ])('refuses a working directory that is %s and names it', async (_what, cwd, errno) => {
    const running = run(exec('true', [], { cwd }));
    const error = await running.refused;
    expect(error).toMatchObject({ code: 'cwd_invalid', details: { errno, cwd } });
    expect(error.message).toContain(JSON.stringify(cwd));
    expect(running.order).toEqual(['refused']);
  });

  it('refuses a working directory that may not be entered', async () => {
    const closed = join(directory, 'closed');
    mkdirSync(closed, { mode: 0o000 });
    // Root may enter everything, so it asks as nobody for a directory of its own.
    const isRoot = process.getuid?.() === 0;
    const fixture = resolve(import.meta.dirname, '../fixtures/start-in.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [fixture, isRoot ? '/root' : closed], {
      cwd: '/',
      ...(isRoot ? { uid: 65534, gid: 65534 } : {}),
    });
    expect(stdout).toBe('cwd_invalid EACCES\n');
  });

  it.each([
    ['no-such-program-here', 'ENOENT', true, 'none of the directories of PATH'],
    ['/no/such/program', 'ENOENT', false, 'does not exist'],
    ['/etc/passwd', 'EACCES', false, 'may not be executed'],
    ['/etc/passwd/x', 'ENOTDIR', false, 'not a directory'],
    ['/etc', 'EACCES', false, 'is a directory'],
  ])('refuses to start %s with %s', async (file, errno, searchedPath, reason) => {
    const error = await run(exec(file)).refused;
    expect(error).toMatchObject({ code: 'spawn_failed', details: { errno, lookedFor: file, searchedPath } });
    expect(error.message).toContain(reason);
  });

  it('names the interpreter that a script asks for in vain', async () => {
    const script = join(directory, 'script');
    writeFileSync(script, '#!/no/such/interpreter -x\n', { mode: 0o755 });
    const error = await run(exec('./script', [], { cwd: directory })).refused;
    expect(error).toMatchObject({
      code: 'spawn_failed',
      details: { errno: 'ENOENT', lookedFor: './script' },
    });
    expect(error.message).toContain('interpreter "/no/such/interpreter"');
  });

  it('gives the sizes when arguments are too big', async () => {
    const error = await run(exec('true', ['x'.repeat(200_000)])).refused;
    expect(error).toMatchObject({ code: 'spawn_failed', details: { errno: 'E2BIG' } });
    expect(error.message).toContain('200000');
  });

  it.each([
    ['an argument', exec('echo', ['a\0b'])],
    ['a variable', exec('echo', [], { env: { A: 'x\0y' } })],
  ])('survives a zero byte in %s', async (_what, request) => {
    expect(await run(request).refused).toMatchObject({ code: 'spawn_failed', details: { errno: 'EINVAL' } });
  });

  it('takes a cancel of what never started', async () => {
    const running = run(exec('/no/such/program'));
    running.process.cancel();
    running.process.pause();
    running.process.resume();
    await running.refused;
    expect(running.order).toEqual(['refused']);
  });
});
