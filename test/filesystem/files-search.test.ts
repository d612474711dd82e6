import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, temporaryDirectory } from './call-tool.ts';

function treeWith(files: Record<string, string | Uint8Array>): string {
  const root = temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

describe('files_search', () => {
  it('finds the lines of all files in order', async () => {
    const dirPath = treeWith({
      'b.txt': 'x\nhit here\nhit',
      'a/c.txt': 'no\nhit',
      '.git/x': 'hit',
      'd.txt': 'Hit',
    });

    expect(await callTool('files_search', { dirPath, query: 'hit' })).toMatchObject({
      ok: true,
      dirPath,
      query: 'hit',
      matches: [
        { filePath: 'a/c.txt', line: 2, text: 'hit' },
        { filePath: 'b.txt', line: 2, text: 'hit here' },
        { filePath: 'b.txt', line: 3, text: 'hit' },
      ],
      truncated: false,
      incomplete: false,
      warnings: [],
    });
  });

  it.each(['-77', '--files', '-e', '.*', '(a+)+$', '[', '\\', '$&', '"', '\u00e9', '😀'])(
    'takes the query "%s" as data',
    async (query) => {
      const dirPath = treeWith({ file: `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\nhere: ${query}\n` });

      const outcome = await callTool('files_search', { dirPath, query });

      expect(outcome.matches).toEqual([{ filePath: 'file', line: 2, text: `here: ${query}` }]);
    },
  );

  it.each([undefined, null, '', {}])('requires a query, not %j', async (query) => {
    const outcome = await callTool('files_search', { dirPath: '/', query });

    expect(outcome).toMatchObject({ ok: false, error: 'query_required', dirPath: '/' });
  });

  it('takes a number as the text it is written as', async () => {
    const dirPath = treeWith({ file: 'port 8080' });

    expect((await callTool('files_search', { dirPath, query: 8080 })).matches).toHaveLength(1);
  });

  it('says that a query over two lines cannot match', async () => {
    const dirPath = treeWith({ file: 'a\nb' });

    const outcome = await callTool('files_search', { dirPath, query: 'a\nb' });

    expect(outcome).toMatchObject({ matches: [], warnings: [expect.stringContaining('line feed')] });
  });

  it.each([2, '2'])('returns maxMatches matches and says that there are more (%j)', async (maxMatches) => {
    const dirPath = treeWith({ a: 'x\nx\n', b: 'x\n' });

    const cut = await callTool('files_search', { dirPath, query: 'x', maxMatches });
    const whole = await callTool('files_search', { dirPath, query: 'x', maxMatches: 3 });

    expect(cut.matches).toHaveLength(2);
    expect(cut).toMatchObject({ truncated: true, incomplete: true });
    expect(cut.warnings).toEqual([expect.stringContaining('Result limit of 2')]);
    expect(whole).toMatchObject({ truncated: false, warnings: [] });
  });

  it('passes over binary files silently and special files with a note', async () => {
    const dirPath = treeWith({ binary: 'hit\0', text: 'hit' });
    execFileSync('mkfifo', [join(dirPath, 'pipe')]);
    symlinkSync('/dev/zero', join(dirPath, 'zero'));
    symlinkSync('text', join(dirPath, 'same'));

    const outcome = await callTool('files_search', { dirPath, query: 'hit' });

    expect(outcome.matches).toEqual([{ filePath: 'text', line: 1, text: 'hit' }]);
    expect(outcome).toMatchObject({ incomplete: false, warnings: ['special_file_skipped:pipe'] });
  });

  it('finds text in files that are not UTF-8', async () => {
    const dirPath = treeWith({ file: Buffer.from('caf\xe9 hit', 'latin1') });

    expect((await callTool('files_search', { dirPath, query: 'hit' })).matches).toEqual([
      { filePath: 'file', line: 1, text: 'caf\ufffd hit' },
    ]);
  });

  it('searches a file of one 100 MB line in constant memory', async () => {
    const dirPath = treeWith({});
    const fd = openSync(join(dirPath, 'line'), 'w');
    const block = Buffer.alloc(1024 * 1024, 'abcdefg ');
    for (let index = 0; index < 100; index += 1) writeSync(fd, block);
    writeSync(fd, 'needle');
    closeSync(fd);
    const before = process.memoryUsage().rss;

    const outcome = await callTool('files_search', { dirPath, query: 'needle' });

    expect(outcome.matches).toEqual([
      { filePath: 'line', line: 1, text: expect.stringMatching(/^.{994}needle$/) },
    ]);
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024);
  });
});
