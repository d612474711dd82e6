import { mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeDirectory } from '../../src/support/make-directory.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'burrow-make-directory-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('makeDirectory()', () => {
  it('makes what is missing with the mode, and leaves what exists as it is', async () => {
    mkdirSync(join(root, 'old'), { mode: 0o755 });
    await makeDirectory(join(root, 'old', 'a', 'b', 'c'), 0o700);
    const modes = ['old', 'old/a', 'old/a/b', 'old/a/b/c'].map(
      (name) => statSync(join(root, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o755, 0o700, 0o700, 0o700]);
    await expect(makeDirectory(join(root, 'old', 'a'), 0o777)).resolves.toBeUndefined();
    expect(statSync(join(root, 'old', 'a')).mode & 0o777).toBe(0o700);
  });

  it('gives the mode that is asked for whatever the umask is, and without one what the umask leaves', async () => {
    const former = process.umask(0o077);
    onTestFinished(() => void process.umask(former));
    await makeDirectory(join(root, 'free', 'a'));
    process.umask(0o777);
    await makeDirectory(join(root, 'exact', 'a'), 0o750);
    const modes = ['free', 'free/a', 'exact', 'exact/a'].map(
      (name) => statSync(join(root, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o750, 0o750]);
  });

  it('takes a link to a directory for one, and parts that say nothing', async () => {
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    await makeDirectory(`${root}/link/./a//b/../c/`);
    expect(statSync(join(root, 'real', 'a', 'c')).isDirectory()).toBe(true);
    expect(readlinkSync(join(root, 'link'))).toBe('real');
  });

  it('lets many make the same path at once', async () => {
    const path = join(root, 'a', 'b', 'c', 'd');
    await Promise.all(Array.from({ length: 20 }, () => makeDirectory(path)));
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it.runIf(process.platform === 'linux').each(['/proc/x', '/proc/x/y/z', '/proc/self/x'])(
    'ends where the system makes none: %s',
    async (path) => {
      await expect(makeDirectory(path)).rejects.toMatchObject({
        code: 'ENOENT',
        message: expect.stringContaining('the system has none there'),
      });
    },
  );

  it.each<[string, (path: string) => void, string]>([
    ['a file', (path) => writeFileSync(path, 'kept'), 'ENOTDIR'],
    ['a link to nowhere', (path) => symlinkSync('nowhere', path), 'ENOTDIR'],
    ['a link to itself', (path) => symlinkSync('it', path), 'ENOTDIR'],
  ])('refuses %s in its place', async (_name, put, code) => {
    put(join(root, 'it'));
    await expect(makeDirectory(join(root, 'it'))).rejects.toMatchObject({ code });
  });

  it.each<[string, (path: string) => void, string]>([
    ['a file', (path) => writeFileSync(path, 'kept'), 'ENOTDIR'],
    ['a link to nowhere', (path) => symlinkSync('nowhere', path), 'ENOTDIR'],
    ['a link to itself', (path) => symlinkSync('it', path), 'ELOOP'],
  ])('refuses %s above it', async (_name, put, code) => {
    put(join(root, 'it'));
    await expect(makeDirectory(join(root, 'it', 'a', 'b'))).rejects.toMatchObject({ code });
  });

  it('refuses an empty path and a name that is too long', async () => {
    await expect(makeDirectory('')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(makeDirectory(join(root, 'x'.repeat(300)))).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });
});
