import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, temporaryDirectory } from './call-tool.ts';

function makeTree(paths: string[]): string {
  const root = temporaryDirectory();
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  return root;
}

const PATHS = [
  'a.ts',
  'src/b.ts',
  'src/deep/c.ts',
  'src/deep/c.js',
  '[id].ts',
  'a,{b,c}',
  '[foo',
  'src/.hidden.ts',
  '-77',
];

describe('files_find', () => {
  it.each([
    [undefined, ['-77', '[foo', '[id].ts', 'a,{b,c}', 'a.ts', 'src']],
    ['', ['-77', '[foo', '[id].ts', 'a,{b,c}', 'a.ts', 'src']],
    ['*.ts', ['[id].ts', 'a.ts']],
    ['**/*.ts', ['[id].ts', 'a.ts', 'src/b.ts', 'src/deep/c.ts']],
    ['src/**', ['src/b.ts', 'src/deep', 'src/deep/c.js', 'src/deep/c.ts']],
    ['[id].ts', ['[id].ts']],
    ['[foo', ['[foo']],
    ['a,{b,c}', ['a,{b,c}']],
    ['**/.hidden.ts', []],
    ['SRC/*', []],
    [-77, ['-77']],
  ])('finds by %j', async (pattern, paths) => {
    const dirPath = makeTree(PATHS);

    const outcome = await callTool('files_find', { dirPath, pattern });

    expect(outcome).toMatchObject({
      ok: true,
      dirPath,
      paths,
      truncated: false,
      incomplete: false,
      warnings: [],
    });
  });

  it('returns maxEntries paths and says that there are more', async () => {
    const dirPath = makeTree(PATHS);

    const cut = await callTool('files_find', { dirPath, pattern: '**/*.ts', maxEntries: '2' });
    const whole = await callTool('files_find', { dirPath, pattern: '**/*.ts', maxEntries: 4 });

    expect(cut).toMatchObject({ paths: ['[id].ts', 'a.ts'], truncated: true, entryBudgetExhausted: false });
    expect(cut.warnings).toEqual([expect.stringContaining('Result limit of 2')]);
    expect(whole).toMatchObject({ truncated: false, incomplete: false });
  });

  it.each([
    ['the request', { maxTraversalEntries: 3 }, {}, 3],
    ['the host', {}, { traversalEntries: 5 }, 5],
    ['the request before the host', { maxTraversalEntries: '4' }, { traversalEntries: 2 }, 4],
    ['the contract', { maxTraversalEntries: 0 }, { traversalEntries: 0 }, 4_000],
  ])('visits as many entries as %s allows', async (_, asked, host, budget) => {
    const dirPath = makeTree(PATHS);
    if (budget === 4_000)
      for (let index = 0; index < 4_100; index += 1) writeFileSync(join(dirPath, `x${index}`), '');

    const outcome = await callTool(
      'files_find',
      { dirPath, pattern: '**', maxEntries: 9_999, ...asked },
      host,
    );

    expect(outcome.paths).toHaveLength(budget);
    expect(outcome).toMatchObject({ entryBudgetExhausted: true, truncated: true });
    expect(outcome.warnings).toContainEqual(expect.stringContaining(`Entry budget of ${budget}`));
  });

  it('refuses a pattern longer than any path', async () => {
    expect((await callTool('files_find', { dirPath: '/', pattern: '*'.repeat(5_000) })).error).toBe(
      'invalid_params',
    );
  });
});
