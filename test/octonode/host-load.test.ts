import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeNode, invokeNode } from '../../src/octonode/octonode.ts';
import { errorOf } from './hosted-files.ts';
import { hosted, options } from './nodes.ts';

const directory = mkdtempSync(join(tmpdir(), 'octonode load-'));
afterAll(() => rmSync(directory, { recursive: true }));

function put(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

put('bad.mjs', 'export const a = 1;\nexport const b = [1 2];\n');
put('bad.json', '{ "a": 1,\n bad }');
put('thrower.cjs', "\nexports.f = () => { throw new Error('deep'); };\n");

describe('hostNodes(), on a file that does not load', () => {
  it.each<[string, string, string, string, object]>([
    [
      'a mistake of syntax',
      'a.ts',
      'const n: number = 1;\n  n = [1 2];\n',
      'a.ts:2:10',
      { line: 2, column: 10 },
    ],
    [
      'one after tabs',
      'tabs.ts',
      '\tif (1) {\n\t\tlet\tn = [1 2];\n}',
      'tabs.ts:2:14',
      { line: 2, column: 14 },
    ],
    ['one after wide letters', 'wide.ts', "\nlet a = '漢é'; let b = [1 2];", 'wide.ts:2', { line: 2 }],
    ['CR LF', 'crlf.ts', '\r\n\r\nlet a = [1 2];\r\n', 'crlf.ts:3:12', { line: 3, column: 12 }],
    ['an enum', 'b.ts', '\nenum Color { Red }\n', 'b.ts:2:1', { line: 2, column: 1 }],
    [
      'a parameter property',
      'c.ts',
      'class A { constructor(private x: number) {} }',
      'c.ts:1:31',
      { line: 1 },
    ],
    ['a name twice', 'd.ts', 'let a;\nlet a;\n', 'd.ts:2:5', { line: 2, column: 5 }],
    [
      'a mistake in a module',
      'e.mjs',
      'export const x = {\n  a: [1 2] };\n',
      'e.mjs:2:9',
      { line: 2, column: 9 },
    ],
    ['a mistake in a script', 'f.cjs', '\n\texports.a = [1 2];\n', 'f.cjs:2:17', { line: 2, column: 17 }],
    [
      'a mistake in an import',
      'g.mjs',
      "import './thrower.cjs';\nimport './bad.mjs';",
      'bad.mjs:2:21',
      { line: 2 },
    ],
    [
      'a name not exported',
      'h.ts',
      "\nimport { no } from './bad2.mjs';\nno();",
      'h.ts:2:10',
      { line: 2, column: 10 },
    ],
    ['a throw', 'i.ts', "\n\nthrow new TypeError('oops');\n", 'i.ts:3:7', { line: 3, column: 7 }],
    [
      'a throw in a function',
      'j.mjs',
      "import { f } from './thrower.cjs';\nf();",
      'thrower.cjs:2:27',
      { line: 2 },
    ],
    [
      'JSON with a mistake',
      'k.mjs',
      "import d from './bad.json' with { type: 'json' };",
      'bad.json: Expected',
      { line: 2, column: 2 },
    ],
    // The parser that looks again takes this one for right: no place is made up.
    [
      'what only the engine finds',
      'l.mjs',
      'export default 1;\nexport default 2;\n',
      'l.mjs: Identifier',
      {},
    ],
    ['no node', 'm.ts', 'export default 1;', 'm.ts: The file exports no node', {}],
    ['a package that is missing', 'n.ts', "\nimport 'nowhere';", "n.ts: Cannot find package 'nowhere'", {}],
  ])('names the place of %s', async (_name, name, source, where, place) => {
    put('bad2.mjs', 'export const yes = 1;\n');
    const path = put(name, source);

    const error = errorOf(await invokeNode(hosted(path), {}, options()));

    const message = expect.stringContaining(`Cannot load the node: ${directory}/${where}`);
    const file = join(directory, /[\w.]+/.exec(where)?.[0] ?? '');
    expect(error).toMatchObject({ code: 'RUNTIME_ERROR', message, details: { file, ...place } });
    expect(await describeNode(hosted(path), options())).toMatchObject({ error: { message } });
  });

  it.each([
    ['in the file', "await new Promise(() => {});\nexport default { id: 'n', run: () => 1 };"],
    ['in an import', "import './pending.mjs';\nexport default { id: 'n', run: () => 1 };"],
  ])('says that a top-level await never settles: %s', async (_name, source) => {
    put('pending.mjs', 'await new Promise(() => {});');
    const path = put('stalled.mjs', source);
    const message = `Cannot load the node: ${path}: its top-level await never settles`;

    expect(errorOf(await invokeNode(hosted(path), {}, options()))).toMatchObject({
      code: 'RUNTIME_ERROR',
      message,
      retryable: false,
      details: { file: path },
    });
    expect(await describeNode(hosted(path), options())).toMatchObject({ error: { message } });
  });

  it('waits for a top-level await that settles late', async () => {
    const path = put(
      'late.mjs',
      "await new Promise((done) => setTimeout(done, 300));\nexport default { id: 'n', run: () => 1 };",
    );

    expect(await invokeNode(hosted(path), {}, options())).toMatchObject({ outputs: 1 });
  });

  it('says nothing on stderr while it looks for the place', async () => {
    let stderr = '';
    const onStderr = (chunk: Buffer): void => {
      stderr += chunk;
    };

    await invokeNode(hosted(put('quiet.mjs', 'export default [1 2];')), {}, { ...options(), onStderr });

    expect(stderr).toBe('');
  });
});
