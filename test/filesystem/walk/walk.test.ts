import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCompleteness } from '../../../src/filesystem/walk/completeness.ts';
import { walk } from '../../../src/filesystem/walk/walk.ts';
import { systemClock } from '../../../src/support/clock.ts';
import { callTool, callToolAsUser, isRoot, sharedDirectory, temporaryDirectory } from '../call-tool.ts';

function makeTree(paths: string[]): string {
  const root = temporaryDirectory();
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    if (path.endsWith('/')) mkdirSync(join(root, path), { recursive: true });
    else writeFileSync(join(root, path), '');
  }
  return root;
}

async function collect(
  root: string,
  bounds: { maxDepth?: number; maxEntries?: number; canHang?: boolean } = {},
) {
  const completeness = createCompleteness();
  const options = {
    clock: systemClock,
    signal: new AbortController().signal,
    maxDepth: bounds.maxDepth ?? 20,
    maxEntries: bounds.maxEntries ?? 10_000,
    canHang: () => bounds.canHang === true,
  };
  const found: string[] = [];
  for await (const batch of walk(root, options, completeness)) found.push(...batch.map(({ path }) => path));
  return { found, ...completeness.fields(), warnings: completeness.warnings() };
}

const COMPLETE = {
  truncated: false,
  depthTruncated: false,
  entryBudgetExhausted: false,
  incomplete: false,
  warnings: [],
};

describe('walk()', () => {
  it.each([false, true])(
    'goes in sorted order, a directory right before its content (canHang: %s)',
    async (canHang) => {
      const root = makeTree(['b', 'a/z', 'a/B', 'a/b/c', 'c/', 'Z', 'ä', '10', '9']);

      const walked = await collect(root, { canHang });

      expect(walked).toEqual({
        found: ['10', '9', 'Z', 'a', 'a/B', 'a/b', 'a/b/c', 'a/z', 'b', 'c', 'ä'],
        ...COMPLETE,
      });
    },
  );

  it('skips dot entries and node_modules at every depth', async () => {
    const root = makeTree([
      '.git/x',
      '.env',
      'node_modules/x',
      'a/node_modules/x',
      'a/.x',
      'a/node_modules2',
      'b.x',
    ]);

    expect((await collect(root)).found).toEqual(['a', 'a/node_modules2', 'b.x']);
  });

  it('lists symlinks and never follows one', async () => {
    const root = makeTree(['a/file']);
    symlinkSync('.', join(root, 'a/loop'));
    symlinkSync('/', join(root, 'root'));
    symlinkSync('a', join(root, 'also'));

    expect(await collect(root)).toEqual({ found: ['a', 'a/file', 'a/loop', 'also', 'root'], ...COMPLETE });
  });

  it('follows the root itself when it is a symlink', async () => {
    const root = makeTree(['a/file']);
    symlinkSync('a', join(root, 'link'));

    expect((await collect(join(root, 'link'))).found).toEqual(['file']);
  });

  it('counts depth from 0 and says when something lies deeper', async () => {
    const root = makeTree(['a/b/c/d', 'e/']);

    const cut = await collect(root, { maxDepth: 1 });
    const whole = await collect(root, { maxDepth: 3 });

    expect(cut.found).toEqual(['a', 'a/b', 'e']);
    expect(cut).toMatchObject({
      truncated: true,
      depthTruncated: true,
      entryBudgetExhausted: false,
      incomplete: true,
    });
    expect(cut.warnings).toEqual([expect.stringContaining('Depth limit of 1')]);
    expect(whole).toMatchObject({ found: ['a', 'a/b', 'a/b/c', 'a/b/c/d', 'e'], ...COMPLETE });
  });

  it('does not call a directory cut that holds nothing visible', async () => {
    const root = makeTree(['a/.hidden', 'b/node_modules/x', 'c/']);

    expect(await collect(root, { maxDepth: 0 })).toMatchObject({ found: ['a', 'b', 'c'], ...COMPLETE });
  });

  it('stops at its budget and says so, but not when the budget was just enough', async () => {
    const root = makeTree(['a/b', 'a/c', 'd']);

    const cut = await collect(root, { maxEntries: 3 });
    const whole = await collect(root, { maxEntries: 4 });

    expect(cut.found).toEqual(['a', 'a/b', 'a/c']);
    expect(cut).toMatchObject({ truncated: true, entryBudgetExhausted: true, incomplete: true });
    expect(cut.warnings).toEqual([expect.stringContaining('Entry budget of 3')]);
    expect(whole).toMatchObject({ found: ['a', 'a/b', 'a/c', 'd'], ...COMPLETE });
  });

  it('goes on with a warning when a directory was removed during the walk', async () => {
    const root = makeTree(['a/x', 'b/', 'c/y']);
    const completeness = createCompleteness();
    const options = { clock: systemClock, signal: new AbortController().signal, maxDepth: 9, maxEntries: 99 };
    const found: string[] = [];

    for await (const batch of walk(root, { ...options, canHang: () => false }, completeness)) {
      found.push(...batch.map(({ path }) => path));
      if (found.includes('b')) rmSync(join(root, 'b'), { recursive: true, force: true });
    }

    expect(found).toEqual(['a', 'a/x', 'b', 'c', 'c/y']);
    expect(completeness.warnings()).toEqual(['unreadable_directory:b:ENOENT']);
    expect(completeness.fields()).toMatchObject({ truncated: false, incomplete: true });
  });

  it('lists names that are not UTF-8 with U+FFFD and a warning, and enters such directories', async () => {
    const root = temporaryDirectory();
    const odd = Buffer.concat([Buffer.from(`${root}/a`), Buffer.of(0xff)]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from('/inside'), Buffer.of(0x80)]), 'needle');
    writeFileSync(join(root, 'z\ufffd'), 'a real replacement character is a name like any other');

    const walked = await collect(root);
    const searched = await callTool('files_search', { dirPath: root, query: 'needle' });

    expect(walked.found).toEqual(['a\ufffd', 'a\ufffd/inside\ufffd', 'z\ufffd']);
    expect(walked.warnings).toEqual(['name_not_utf8:a\ufffd', 'name_not_utf8:a\ufffd/inside\ufffd']);
    expect(walked.incomplete).toBe(false);
    expect(searched.matches).toEqual([{ filePath: 'a\ufffd/inside\ufffd', line: 1, text: 'needle' }]);
  });

  it('keeps the first names of a directory too large for one call', async () => {
    const root = temporaryDirectory();
    const count = 9_000;
    const name = (index: number): string => `${String(index).padStart(5, '0')}-${'x'.repeat(60)}`;
    for (let index = count - 1; index >= 0; index -= 1) writeFileSync(join(root, name(index)), '');

    const cut = await collect(root, { maxEntries: 10 });
    const whole = await collect(root);

    expect(cut.found).toEqual(Array.from({ length: 10 }, (_, index) => name(index)));
    expect(cut.entryBudgetExhausted).toBe(true);
    expect(whole.found).toEqual(Array.from({ length: count }, (_, index) => name(index)));
  });

  it('survives a tree deeper than any path', async () => {
    const root = temporaryDirectory();
    const name = 'd'.repeat(200);
    execFileSync('sh', ['-c', `i=0; while [ $i -lt 30 ]; do mkdir ${name} && cd ${name}; i=$((i+1)); done`], {
      cwd: root,
    });

    const walked = await collect(root, { maxDepth: 1_000 });

    expect(walked.found.length).toBeGreaterThan(15);
    expect(walked.warnings).toEqual([expect.stringMatching(/^unreadable_directory:d.*:ENAMETOOLONG$/)]);
    execFileSync('rm', ['-rf', join(root, name)]);
  });

  it.each([
    ['a file', 'file', 'ENOTDIR'],
    ['nothing', 'nowhere', 'ENOENT'],
    ['a loop', 'loop', 'ELOOP'],
  ])('fails when the root is %s', async (_, name, code) => {
    const root = makeTree(['file']);
    symlinkSync('loop', join(root, 'loop'));

    for (const tool of ['files_list', 'files_find', 'files_search']) {
      expect(await callTool(tool, { dirPath: join(root, name), query: 'x' })).toMatchObject({
        ok: false,
        error: code,
      });
    }
  });

  it('stops when it is cancelled between two batches', async () => {
    const root = makeTree(['a/x', 'b/x']);
    const controller = new AbortController();
    const options = {
      clock: systemClock,
      signal: controller.signal,
      maxDepth: 9,
      maxEntries: 99,
      canHang: () => false,
    };
    const walking = walk(root, options, createCompleteness());
    await walking.next();
    controller.abort();

    await expect(walking.next()).rejects.toBe(controller.signal.reason);
  });

  it.runIf(isRoot)('warns about directories and files an ordinary user may not read', () => {
    const root = sharedDirectory();
    const closed = mkdtempSync(join(root, 'closed-'));
    writeFileSync(join(closed, 'x'), 'needle');
    writeFileSync(join(root, 'secret'), 'needle', { mode: 0o600 });
    writeFileSync(join(root, 'open'), 'needle', { mode: 0o644 });
    const name = closed.slice(root.length + 1);
    chmodSync(closed, 0);

    const listed = callToolAsUser('files_list', { dirPath: root });
    const found = callToolAsUser('files_find', { dirPath: root, pattern: '**/*' });
    const searched = callToolAsUser('files_search', { dirPath: root, query: 'needle' });
    const refused = callToolAsUser('files_list', { dirPath: closed });

    const warning = `unreadable_directory:${name}:EACCES`;
    expect(listed).toMatchObject({ ok: true, truncated: false, incomplete: true, warnings: [warning] });
    expect(listed.entries).toHaveLength(3);
    expect(found).toMatchObject({ paths: [name, 'open', 'secret'], incomplete: true, warnings: [warning] });
    expect(searched.matches).toEqual([{ filePath: 'open', line: 1, text: 'needle' }]);
    expect(searched.warnings).toEqual([warning, 'unreadable_file:secret:EACCES']);
    expect(refused).toMatchObject({ ok: false, error: 'EACCES' });
    chmodSync(closed, 0o700);
    rmSync(join(closed, 'x'));
    rmdirSync(closed);
  });
});
