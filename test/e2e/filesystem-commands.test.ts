// `burrow fs` as a stranger runs it: the built binary, pipes, signals.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, burrow, temporaryDirectory, until } from './daemon.ts';

const MEBIBYTE = 1024 * 1024;

describe('burrow fs', () => {
  it('copies a file of 20 MiB through pipes, byte for byte', () => {
    const directory = temporaryDirectory();
    const bytes = Buffer.alloc(20 * MEBIBYTE, Buffer.from([0, 255, 10, 13, 0xe2, 0x82, 65]));
    writeFileSync(join(directory, 'f'), bytes);

    const copied = spawnSync('sh', ['-c', '"$0" fs read f > copy && cmp f copy', BURROW], { cwd: directory });

    expect(copied.status).toBe(0);
  });

  it('writes no file under a name with a slash at its end', () => {
    const directory = temporaryDirectory();

    const ran = burrow(['fs', 'write', `${directory}/made/`], { input: 'x' });

    expect(ran).toMatchObject({ stdout: '', status: 1 });
    expect(ran.stderr).toContain('names a directory; give the path of a file (EISDIR)');
    expect(readdirSync(directory)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('fails at once where no directory can be made', () => {
    const ran = spawnSync('timeout', ['-k', '1', '20', BURROW, 'fs', 'write', '/proc/nope/y'], {
      input: 'x',
      encoding: 'utf8',
    });

    expect(ran).toMatchObject({ stdout: '', status: 1 });
    expect(ran.stderr).toContain('the system has none there (ENOENT)');
  });

  it('ends quietly when its reader goes away', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), Buffer.alloc(20 * MEBIBYTE, 'x'));

    const ran = spawnSync('sh', ['-c', '"$0" fs read f | head -c 3', BURROW], {
      cwd: directory,
      encoding: 'utf8',
    });

    expect(ran).toMatchObject({ stdout: 'xxx', stderr: '' });
  });

  it('stops a long search on Ctrl-C and exits 130', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'endless.txt');
    writeFileSync(path, 'text\n'.repeat(2_000));
    truncateSync(path, 200 * 1024 * MEBIBYTE);
    const child = spawn(BURROW, ['fs', 'search', directory, 'nope'], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await until('it searches', () => isOpenIn(child.pid, path));

    child.kill('SIGINT');

    expect(await ended).toEqual([130, null]);
  });

  it('kill -9 in the middle of a 100 MB write leaves the old file, and nothing after the next call', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'f');
    writeFileSync(file, 'old');
    const content = join(directory, 'content');
    writeFileSync(content, Buffer.alloc(100 * 1_000_000, 'line of text\n'));
    const env = { ...process.env, TMPDIR: directory };
    const child = spawn('sh', ['-c', 'exec "$0" fs write f < content', BURROW], { cwd: directory, env });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const isBesideFile = (name: string): boolean => name.startsWith('.burrow-');

    await until('the new file is being written', () => readdirSync(directory).some(isBesideFile));
    child.kill('SIGKILL');
    await ended;

    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(directory).filter(isBesideFile)).toHaveLength(1);
    const next = burrow(['fs', 'write', file], { input: 'new', env: { TMPDIR: directory } });
    expect(next).toMatchObject({ status: 0, stderr: '' });
    expect(readdirSync(directory).toSorted()).toEqual(['content', 'f']);
    expect(statSync(file).size).toBe(3);
  });
});

function isOpenIn(pid: number | undefined, path: string): boolean {
  const opened = spawnSync(
    'readlink',
    readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`),
  );
  return opened.stdout.toString().includes(path);
}
