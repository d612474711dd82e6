import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BURROW, startDaemon, temporaryDirectory } from './daemon.ts';

/** Runs burrow in a directory that was removed after the shell went there. */
function burrowNowhere(...args: string[]) {
  const directory = join(temporaryDirectory(), 'gone');
  mkdirSync(directory);
  return spawnSync('/bin/sh', ['-c', 'rmdir "$PWD" && exec "$@"', 'sh', BURROW, ...args], {
    cwd: directory,
    encoding: 'utf8',
    input: '{"id":1,"method":"process.exec","params":{"command":"echo ran in $PWD"}}\n',
    timeout: 10_000,
    env: { ...process.env, BURROW_GATEWAY_STATE_DIR: undefined },
  });
}

describe('a working directory that was removed', () => {
  // None of these does harm in `/`, should it ever be taken for the directory again.
  it.each<[string, string[]]>([
    ['exec -c', ['exec', '-c', 'echo ran in $PWD; ls']],
    ['exec --', ['exec', '--', 'ls']],
    ['client exec', ['client', 'exec', '{"command":"echo ran"}']],
    ['client raw', ['client', 'raw']],
    ['fs list', ['fs', 'list', '.']],
    ['fs write', ['fs', 'write', 'proc/none', '--content', 'x']],
    ['node run', ['node', 'run', '--', 'ls']],
    ['node run FILE', ['node', 'run', './node.sh']],
    ['node describe', ['node', 'describe', './node.sh']],
    ['node bench', ['node', 'bench', './node.sh']],
    ['node new', ['node', 'new', 'sh', '--dir', 'proc/none']],
    ['scan', ['scan']],
    ['scan DIR', ['scan', 'src']],
    ['flow check', ['flow', 'check']],
    ['flow run', ['flow', 'run', 'x']],
  ])('ends burrow %s before anything happens', (_, args) => {
    const ended = burrowNowhere(...args);

    expect(ended).toMatchObject({ status: 125, stdout: '' });
    expect(ended.stderr).toBe(
      'burrow: Working directory no longer exists (working_directory_missing)\n' +
        'burrow: Change to a directory that exists, and run the command there\n',
    );
  });

  it.each([[], ['--state-dir', 'state'], ['--socket', 'burrow.sock']])(
    'keeps a daemon from its start: %j',
    (...args) => {
      expect(burrowNowhere('daemon', ...args)).toMatchObject({
        status: 78,
        stdout: '',
        stderr: 'burrow: Working directory no longer exists: start the daemon in a directory that exists\n',
      });
    },
  );

  it.each([
    ['version', 0],
    ['--version', 0],
    ['--help', 0],
    ['exec --help', 0],
    ['scan --help', 0],
    ['completion bash', 0],
    ['node types', 0],
    ['', 2],
    ['exce', 2],
    ['daemon --nonsense', 2],
  ])('is nothing to a command that needs none: burrow %s', (line, status) => {
    const ended = burrowNowhere(...line.split(' ').filter((word) => word !== ''));

    expect(ended.status).toBe(status);
    expect(ended.stderr).not.toContain('Working directory');
  });

  it('is nothing to a command for another host', () => {
    const ended = burrowNowhere('exec', '--controller', '/nowhere.sock', '--target', 'a', '--', 'ls');

    expect(ended.stderr).not.toContain('Working directory');
  });
});

describe('a daemon whose directory is removed while it runs', () => {
  it('answers cwd_invalid to what names no directory, runs what does, and never goes elsewhere', async () => {
    const elsewhere = temporaryDirectory();
    const directory = join(elsewhere, 'start');
    mkdirSync(directory);
    const daemon = startDaemon({ cwd: directory });
    expect((await daemon.exec({ command: 'pwd' })).result.outcome.stdout).toBe(`${directory}\n`);
    rmdirSync(directory);

    const refused = await daemon.exec({ command: 'pwd', operationId: 'gone' });
    const write = { tool: 'files_write', arguments: { filePath: 'file', content: 'x' } };
    const list = { tool: 'files_list', arguments: { dirPath: '.' } };

    expect(refused).toMatchObject({ ok: false, error: { code: 'cwd_invalid', errno: 'ENOENT' } });
    expect(refused.error.message).toContain(directory);
    expect((await daemon.exec({ executable: 'ls' })).error.code).toBe('cwd_invalid');
    expect((await daemon.exec({ command: 'pwd', cwd: elsewhere })).result.outcome.stdout).toBe(
      `${elsewhere}\n`,
    );
    expect((await daemon.ask('filesystem.execute', list)).result.outcome.error).toBe('ENOENT');
    expect((await daemon.ask('health')).result.status).toBe('ok');
    expect(readdirSync(elsewhere)).toEqual([]);
    // The tool makes missing directories, at the place that it was told and at no other.
    expect((await daemon.ask('filesystem.execute', write)).result.outcome).toMatchObject({ ok: true });
    expect(readdirSync(directory)).toEqual(['file']);
    writeFileSync(join(directory, 'other'), '');
    expect((await daemon.exec({ command: 'ls' })).result.outcome.stdout).toBe('file\nother\n');
  });
});
