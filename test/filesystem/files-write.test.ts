import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, callToolAsUser, isRoot, sharedDirectory, temporaryDirectory } from './call-tool.ts';

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

describe('files_write', () => {
  it('creates a file and its parents', async () => {
    const directory = temporaryDirectory();
    const filePath = join(directory, 'a/b/c.txt');

    const outcome = await callTool('files_write', { filePath, content: 'grün\n', workspaceRoot: '/w' });

    expect(outcome).toMatchObject({
      ok: true,
      filePath,
      workspaceRoot: '/w',
      encoding: 'utf8',
      warnings: [],
    });
    expect(outcome).toMatchObject({ created: true, overwrote: false, bytesWritten: 6 });
    expect(readFileSync(filePath, 'utf8')).toBe('grün\n');
    expect(statSync(filePath).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(readdirSync(join(directory, 'a/b'))).toEqual(['c.txt']);
  });

  it('overwrites a file as a whole, also with nothing', async () => {
    const filePath = join(temporaryDirectory(), 'file');
    writeFileSync(filePath, 'a longer old content');

    expect(await callTool('files_write', { filePath, content: 'new' })).toMatchObject({
      created: false,
      overwrote: true,
    });
    expect(readFileSync(filePath, 'utf8')).toBe('new');

    expect(await callTool('files_write', { filePath, content: '' })).toMatchObject({
      ok: true,
      bytesWritten: 0,
    });
    expect(readFileSync(filePath, 'utf8')).toBe('');
  });

  it.each([undefined, null, 7, ['a'], 'half \ud83d'])('refuses the content %j', async (content) => {
    const directory = temporaryDirectory();

    const outcome = await callTool('files_write', { filePath: join(directory, 'a/b'), content });

    expect(outcome).toMatchObject({ ok: false, error: 'invalid_params' });
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each(['600', '640', '444', '777', '4755', '2755', '1644'])('keeps the mode %s', async (mode) => {
    const filePath = join(temporaryDirectory(), 'file');
    writeFileSync(filePath, 'old');
    chmodSync(filePath, Number.parseInt(mode, 8));

    // An ordinary user may not write a file of mode 444; the superuser may.
    const outcome = await callTool('files_write', { filePath, content: 'new' });

    expect(outcome.error).toBe(mode === '444' && !isRoot ? 'EACCES' : null);
    expect(modeOf(filePath)).toBe(mode);
  });

  it('writes through symlinks, also to a target that is not there yet', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'real'));
    writeFileSync(join(directory, 'real/config'), 'old');
    symlinkSync('real/config', join(directory, 'link'));
    symlinkSync('link', join(directory, 'link2'));
    symlinkSync('real', join(directory, 'dir'));
    symlinkSync('../real/deep/new', join(directory, 'real/dangling'));

    const first = await callTool('files_write', { filePath: join(directory, 'link2'), content: 'new' });
    const second = await callTool('files_write', {
      filePath: join(directory, 'dir/dangling'),
      content: 'made',
    });

    expect(first).toMatchObject({ ok: true, overwrote: true, filePath: join(directory, 'link2') });
    expect(second).toMatchObject({ ok: true, created: true });
    expect(readFileSync(join(directory, 'real/config'), 'utf8')).toBe('new');
    expect(readFileSync(join(directory, 'real/deep/new'), 'utf8')).toBe('made');
    expect(readlinkSync(join(directory, 'link2'))).toBe('link');
    expect(lstatSync(join(directory, 'real/dangling')).isSymbolicLink()).toBe(true);
  });

  it('warns that other hard links keep the old content', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'a'), 'old');
    linkSync(join(directory, 'a'), join(directory, 'b'));

    const outcome = await callTool('files_write', { filePath: join(directory, 'a'), content: 'new' });

    expect(outcome.warnings).toEqual([expect.stringContaining('2 hard links')]);
    expect(readFileSync(join(directory, 'b'), 'utf8')).toBe('old');
  });

  it.each([
    ['a directory', 'directory', 'EISDIR'],
    ['a FIFO', 'fifo', 'not_a_regular_file'],
    ['a link to a device', 'null', 'not_a_regular_file'],
    ['a symlink loop', 'loop', 'ELOOP'],
    ['a path through a file', 'file/x', 'ENOTDIR'],
    ['a path through a file, further down', 'file/x/y', 'ENOTDIR'],
    ['a name that is too long', 'x'.repeat(300), 'ENAMETOOLONG'],
    ['a file system that takes no files', '/proc/burrow', 'ENOENT'],
  ])('refuses %s and leaves everything as it was', async (_, name, code) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'directory'));
    writeFileSync(join(directory, 'file'), 'old');
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    symlinkSync('loop', join(directory, 'loop'));
    symlinkSync('/dev/null', join(directory, 'null'));
    const before = readdirSync(directory);

    const outcome = await callTool('files_write', { filePath: name, content: 'x' }, { cwd: directory });

    expect(outcome).toMatchObject({ ok: false, error: code, filePath: name });
    expect(readdirSync(directory)).toEqual(before);
    expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('old');
  });

  it('leaves one whole version when 50 write at once', async () => {
    const directory = temporaryDirectory();
    const filePath = join(directory, 'file');
    const contents = Array.from({ length: 50 }, (_, index) =>
      String.fromCharCode(65 + index).repeat(100_000 + index),
    );

    const outcomes = await Promise.all(
      contents.map((content) => callTool('files_write', { filePath, content })),
    );

    expect(outcomes.filter(({ ok, created }) => ok && created === true)).toHaveLength(1);
    expect(outcomes.filter(({ ok, overwrote }) => ok && overwrote === true)).toHaveLength(49);
    expect(contents).toContain(readFileSync(filePath, 'utf8'));
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it.runIf(isRoot)("keeps another user's owner, group and setuid bit as root", async () => {
    const filePath = join(temporaryDirectory(), 'file');
    writeFileSync(filePath, 'old');
    chownSync(filePath, 1234, 4321);
    chmodSync(filePath, 0o4750);

    expect((await callTool('files_write', { filePath, content: 'new' })).warnings).toEqual([]);

    expect(statSync(filePath)).toMatchObject({ uid: 1234, gid: 4321 });
    expect(modeOf(filePath)).toBe('4750');
  });

  it.runIf(isRoot)(
    "takes over another's file as an ordinary user only with a warning, never with more rights",
    () => {
      const directory = sharedDirectory();
      const filePath = join(directory, 'file');
      writeFileSync(filePath, 'old');
      chownSync(filePath, 1234, 4321);
      chmodSync(filePath, 0o4776);

      const outcome = callToolAsUser('files_write', { filePath, content: 'new' });

      expect(outcome).toMatchObject({ ok: true, overwrote: true });
      expect(outcome.warnings).toEqual([
        'Owner 1234:4321 could not be kept: the file now belongs to 65534:65534',
      ]);
      expect(statSync(filePath)).toMatchObject({ uid: 65534, gid: 65534 });
      // The group of the writer gets what everyone had before, not what the old group had.
      expect(modeOf(filePath)).toBe('766');
    },
  );

  it.runIf(isRoot)('refuses what a plain write would be refused as an ordinary user', () => {
    const directory = sharedDirectory();
    writeFileSync(join(directory, 'readonly'), 'old', { mode: 0o644 });
    mkdirSync(join(directory, 'closed'), { mode: 0o755 });
    writeFileSync(join(directory, 'closed/open'), 'old');
    chmodSync(join(directory, 'closed/open'), 0o666);

    for (const name of ['readonly', 'closed/new', 'closed/deep/new', 'closed/open']) {
      const outcome = callToolAsUser('files_write', { filePath: join(directory, name), content: 'new' });
      expect(outcome).toMatchObject({ ok: false, error: 'EACCES' });
    }
    expect(readFileSync(join(directory, 'readonly'), 'utf8')).toBe('old');
    expect(readFileSync(join(directory, 'closed/open'), 'utf8')).toBe('old');
    expect(readdirSync(directory).sort()).toEqual(['closed', 'readonly']);
  });

  it.runIf(isRoot)('keeps the mode of its own file as an ordinary user', () => {
    const filePath = join(sharedDirectory(), 'file');
    writeFileSync(filePath, 'old');
    chownSync(filePath, 65534, 65534);
    chmodSync(filePath, 0o4711);

    expect(callToolAsUser('files_write', { filePath, content: 'new' })).toMatchObject({
      ok: true,
      warnings: [],
    });

    expect(modeOf(filePath)).toBe('4711');
  });
});
