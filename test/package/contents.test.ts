// What goes into the package, apart from the booted system that run.sh needs.
import { describe, expect, it } from 'vitest';
import { manualPages } from '../../build/man.ts';
import { packageDirectories } from '../../build/notices.ts';
import { burrow } from '../../src/commands/cli.ts';
import { flattenTree, loadCommandTree } from '../../src/commands/command-tree.ts';

const pages = await manualPages('2026-01-01');

describe('manualPages()', () => {
  it('writes one page for each command', async () => {
    const commands = flattenTree(await loadCommandTree(burrow)).map(({ path }) => `${path.join('-')}.1`);
    expect([...pages.keys()]).toEqual(commands);
  });

  it.each([...pages])('%s has every section', (_name, page) => {
    for (const section of ['NAME', 'SYNOPSIS', 'OPTIONS', 'EXIT STATUS', 'EXAMPLES'])
      expect(page).toContain(`\n.SH ${section}\n`);
  });

  it('escapes what roff would read', () => {
    expect(pages.get('burrow.1')).toContain('printf \'%s\\en\' \'{"id":"1","method":"hello"}\'');
  });
});

describe('packageDirectories()', () => {
  it('names each package once, scoped and nested ones as well', () => {
    const inputs = [
      'src/main.ts',
      'node_modules/ajv/dist/ajv.js',
      'node_modules/ajv/lib/a.js',
      'node_modules/@opentelemetry/api/build/index.js',
      'node_modules/a/node_modules/b/index.js',
    ];
    expect(packageDirectories(inputs)).toEqual([
      'node_modules/@opentelemetry/api',
      'node_modules/a/node_modules/b',
      'node_modules/ajv',
    ]);
  });
});
