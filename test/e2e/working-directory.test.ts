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
    ['exec --cwd DIR', ['exec', '--cwd', 'proc', '--', 'ls']],
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

  it.each([
    ['client exec', ['client', 'exec', '{"command":"echo ran"}'], 125],
    ['client exec with a relative cwd', ['client', 'exec', '{"command":"echo ran","cwd":"proc"}'], 125],
    ['client raw', ['client', 'raw'], 0],
  ])('is told by burrow %s in its envelope, and nothing runs', (_, args, status) => {
    const ended = burrowNowhere(...args);

    expect(ended).toMatchObject({ status, stderr: '' });
    expect(JSON.parse(ended.stdout)).toMatchObject({
      type: 'response',
      ok: false,
      error: { code: 'working_directory_missing' },
    });
  });

  it.each([
    [['exec', '--cwd', '/', '--', 'pwd'], '/\n'],
    [['exec', '--cwd', '/', '-c', 'pwd'], '/\n'],
    [['client', 'exec', '{"executable":"pwd","cwd":"/"}'], '"stdout":"/\\n"'],
    [['fs', 'read', '/proc/sys/kernel/ostype'], 'Linux\n'],
    [['fs', 'list', '/proc/sys/kernel/random'], 'uuid'],
    [['client', 'fs', 'files_read', '{"filePath":"/proc/sys/kernel/ostype"}'], 'Linux'],
    [['client', 'hello'], 'burrow-host-gateway'],
    [['client', 'health'], 'ok'],
  ])('is nothing to a command that names another: %j', (args, wanted) => {
    const ended = burrowNowhere(...args);

    expect(ended).toMatchObject({ status: 0, stderr: '' });
    expect(ended.stdout).toContain(wanted);
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

/** Runs burrow in a new directory `name`, given as printf(1) writes it, and tells what then stands beside it and in it. */
function burrowIn(name: string, ...args: string[]) {
  const parent = temporaryDirectory();
  const script = `d=$(printf '${name}.'); d=\${d%.}; mkdir "$d" && cd "$d" && exec "$@"`;
  const ended = spawnSync('/bin/sh', ['-c', script, 'sh', BURROW, ...args], {
    cwd: parent,
    encoding: 'utf8',
    input: '',
    timeout: 10_000,
    env: { ...process.env, BURROW_GATEWAY_STATE_DIR: undefined },
  });
  const beside = readdirSync(parent, { encoding: 'buffer' });
  const found = beside.map((entry) => readdirSync(Buffer.concat([Buffer.from(`${parent}/`), entry])));
  return { ended, beside: beside.length, inside: found.flat() };
}

describe('a working directory whose name is not UTF-8', () => {
  it.each([
    [['fs', 'write', 'note.txt', '--content', 'hi']],
    [['exec', '--', 'touch', 'note.txt']],
    [['exec', '--cwd', '.', '-c', 'touch note.txt']],
  ])('ends burrow %j before anything happens', (args) => {
    const { ended, beside, inside } = burrowIn('caf\\351', ...args);

    expect(ended).toMatchObject({ status: 125, stdout: '' });
    expect(ended.stderr).toBe(
      'burrow: Path of the working directory is not UTF-8 (working_directory_not_text)\n' +
        'burrow: Change to a directory whose whole path is UTF-8, and run the command there\n',
    );
    expect([beside, inside]).toEqual([1, []]);
  });

  it('is not taken for its sibling that has the replacement character', () => {
    const parent = temporaryDirectory();
    mkdirSync(join(parent, 'caf\ufffd'));
    writeFileSync(join(parent, 'caf\ufffd', 'kept'), '');
    const script = `d=$(printf 'caf\\351'); mkdir "$d" && cd "$d" && exec ${BURROW} exec -c 'rm -f *'`;

    expect(spawnSync('/bin/sh', ['-c', script], { cwd: parent }).status).toBe(125);
    expect(readdirSync(join(parent, 'caf\ufffd'))).toEqual(['kept']);
  });

  it('keeps a daemon from its start', () => {
    expect(burrowIn('caf\\351', 'daemon').ended).toMatchObject({
      status: 78,
      stdout: '',
      stderr:
        'burrow: Path of the working directory is not UTF-8: start the daemon in a directory whose whole path is UTF-8\n',
    });
  });

  it('may hold the replacement character in earnest', () => {
    const { ended, inside } = burrowIn('caf\\357\\277\\275', 'fs', 'write', 'note.txt', '--content', 'hi');

    expect([ended.status, inside]).toEqual([0, ['note.txt']]);
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
