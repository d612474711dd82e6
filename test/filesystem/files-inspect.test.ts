import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, callToolAsUser, isRoot, sharedDirectory, temporaryDirectory } from './call-tool.ts';

describe('files_inspect', () => {
  it('describes each kind of path without following it', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), 'abc');
    mkdirSync(join(directory, 'directory'));
    symlinkSync('nowhere/else', join(directory, 'link'));
    execFileSync('mkfifo', [join(directory, 'fifo')]);

    const inspect = (path: string) => callTool('files_inspect', { path }, { cwd: directory });

    expect(await inspect('file')).toMatchObject({
      ok: true,
      exists: true,
      type: 'file',
      size: 3,
      symlinkTarget: null,
    });
    expect(await inspect('directory')).toMatchObject({
      type: 'directory',
      path: join(directory, 'directory'),
    });
    expect(await inspect('link')).toMatchObject({ type: 'symlink', symlinkTarget: 'nowhere/else' });
    expect(await inspect('fifo')).toMatchObject({ type: 'other' });
    expect((await inspect('file')).modifiedAt).toMatch(/Z$/);
  });

  it('answers a missing path with exists:false', async () => {
    const outcome = await callTool('files_inspect', { path: '/nowhere/at/all' });

    expect(outcome).toMatchObject({ ok: true, exists: false, type: null, size: null });
    expect(outcome).toMatchObject({ modifiedAt: null, symlinkTarget: null, error: null });
  });

  it('knows the size of a huge file at once', async () => {
    const path = join(temporaryDirectory(), 'huge');
    writeFileSync(path, '');
    truncateSync(path, 8 * 1024 ** 3);

    expect(await callTool('files_inspect', { path })).toMatchObject({ size: 8 * 1024 ** 3 });
  });

  it('fails where the path leads through a file', async () => {
    expect((await callTool('files_inspect', { path: '/etc/passwd/x' })).error).toBe('ENOTDIR');
  });

  it.runIf(isRoot)('fails with EACCES behind a closed directory as an ordinary user', () => {
    const directory = sharedDirectory();
    mkdirSync(join(directory, 'closed'), { mode: 0o700 });

    const outcome = callToolAsUser('files_inspect', { path: join(directory, 'closed/x') });

    expect(outcome).toMatchObject({ ok: false, error: 'EACCES' });
  });
});
