import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, temporaryDirectory } from './call-tool.ts';

describe('files_list', () => {
  it('lists each kind of entry with its type', async () => {
    const dirPath = temporaryDirectory();
    mkdirSync(join(dirPath, 'directory'));
    writeFileSync(join(dirPath, 'directory/file'), '');
    symlinkSync('directory', join(dirPath, 'link'));
    execFileSync('mkfifo', [join(dirPath, 'pipe')]);

    expect(await callTool('files_list', { dirPath })).toMatchObject({
      ok: true,
      dirPath,
      entries: [
        { path: 'directory', type: 'directory' },
        { path: 'directory/file', type: 'file' },
        { path: 'link', type: 'symlink' },
        { path: 'pipe', type: 'other' },
      ],
      truncated: false,
      depthTruncated: false,
      entryBudgetExhausted: false,
      incomplete: false,
      warnings: [],
    });
  });

  it('takes 500 entries and depth 4 when nothing usable is asked for', async () => {
    const dirPath = temporaryDirectory();
    mkdirSync(join(dirPath, '0/1/2/3/4/5'), { recursive: true });
    for (let index = 0; index < 600; index += 1) writeFileSync(join(dirPath, `f${index}`), '');

    for (const nothing of [undefined, null, '', 0, -3, 'all', 1.5]) {
      const outcome = await callTool('files_list', { dirPath, maxEntries: nothing, maxDepth: nothing });

      expect(outcome.entries).toHaveLength(500);
      expect(outcome).toMatchObject({ depthTruncated: true, entryBudgetExhausted: true });
      expect(outcome.entries).toContainEqual({ path: '0/1/2/3/4', type: 'directory' });
    }
  });

  it('reads bounds written as strings', async () => {
    const dirPath = temporaryDirectory();
    for (let index = 0; index < 9; index += 1) writeFileSync(join(dirPath, `f${index}`), '');

    const outcome = await callTool('files_list', { dirPath, maxEntries: '3' });

    expect(outcome.entries).toHaveLength(3);
  });

  it('fails as too large for a frame rather than collect without end', async () => {
    const dirPath = temporaryDirectory();
    let path = dirPath;
    for (let depth = 0; depth < 13; depth += 1) path = join(path, 'd'.repeat(240));
    mkdirSync(path, { recursive: true });
    for (let index = 0; index < 800; index += 1) writeFileSync(join(path, `f${index}`), '');

    const outcome = await callTool('files_list', { dirPath, maxEntries: 1e9, maxDepth: 50 });

    expect(outcome).toMatchObject({ ok: false, error: 'output_frame_too_large', dirPath });
  });
});
