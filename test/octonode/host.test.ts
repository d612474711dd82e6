import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createNodeWorker, describeNode, invokeNode } from '../../src/octonode/octonode.ts';
import { launchWithNode } from '../../src/process/launcher.ts';
import { directory, errorOf, file, invoke } from './hosted-files.ts';
import { hosted, options } from './nodes.ts';

const NODE = (run: string, more = ''): string =>
  `export default defineNode({ id: 'n', ${more} run: ${run} });`;

describe('hostNodes()', () => {
  it.each([
    ['ts', NODE('async (inputs: unknown) => inputs')],
    ['mts', `const wait: number = await Promise.resolve(1);\n${NODE('(inputs: unknown) => inputs')}`],
    ['js', NODE('(inputs) => inputs')],
    ['mjs', "export default { id: 'n', run: (inputs) => inputs };"],
    [
      'cjs',
      "const { defineNode } = require('burrow/node');\nmodule.exports = defineNode({ id: 'n', run: (inputs) => inputs });",
    ],
  ])('runs a .%s file', async (extension, source) => {
    expect(await invokeNode(hosted(file(source, extension)), { a: [1, null, 'ü'] }, options())).toMatchObject(
      { outputs: { a: [1, null, 'ü'] } },
    );
  });

  it('imports from a node_modules beside the file', async () => {
    mkdirSync(join(directory, 'node_modules/greeting'), { recursive: true });
    writeFileSync(join(directory, 'node_modules/greeting/index.js'), 'module.exports = "Hi";');

    expect(await invoke(`import greeting from 'greeting';\n${NODE('() => greeting')}`)).toMatchObject({
      outputs: 'Hi',
    });
  });

  it('hands the context to the run', async () => {
    const context = { runId: 'r', env: 'prod', config: { a: 1 }, attempt: 3 };

    expect(
      await invoke(
        NODE('(_: unknown, context: unknown) => context'),
        {},
        { context, invocationId: '__proto__' },
      ),
    ).toMatchObject({
      outputs: { ...context, node: 'n', invocationId: '__proto__' },
    });
  });

  it('sends what the file prints to stderr', async () => {
    let text = '';
    const source = `console.log('at import');\nprocess.stdout.write('written\\n');\n${NODE("() => { console.info('in run'); return 1; }")}`;

    expect(
      await invoke(
        source,
        {},
        {
          onStderr: (chunk) => {
            text += chunk;
          },
        },
      ),
    ).toMatchObject({ outputs: 1 });
    expect(text).toBe('at import\nwritten\nin run\n');
  });

  it('lays defaults under object inputs, then checks', async () => {
    const schema = `defaults: { a: 1, b: 2 }, inputs: { type: 'object', properties: { b: { type: 'number' } } },`;

    expect(await invoke(NODE('(inputs) => inputs', schema), { b: 3 })).toMatchObject({
      outputs: { a: 1, b: 3 },
    });
    expect(errorOf(await invoke(NODE('(inputs) => inputs', schema), { b: 'x' }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      retryable: false,
      details: { errors: [{ path: '/b', message: 'must be number' }] },
    });
  });

  it('checks outputs after the run', async () => {
    const source = NODE(
      "() => 'x'",
      "outputs: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'number' },",
    );

    expect(errorOf(await invoke(source))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { errors: [{ path: '' }] },
    });
  });

  it.each([
    ['NaN', '({ a: NaN })', '/a'],
    ['Infinity', '[-Infinity]', '/0'],
    ['undefined', 'undefined', ''],
    ['an undefined field', '({ a: { "b/c": undefined } })', '/a/b~1c'],
    ['a hole', '[1, , 2]', '/1'],
    ['a Date', '({ at: new Date(0) })', '/at'],
    ['a Map', 'new Map()', ''],
    ['a cycle', '(() => { const a: any = { b: [] }; a.b.push(a); return a; })()', '/b/0'],
    ['a BigInt', '1n', ''],
    ['a function', '({ f() {} })', '/f'],
  ])('refuses outputs with %s', async (_name, value, path) => {
    expect(errorOf(await invoke(NODE(`() => (${value})`)))).toMatchObject({
      code: 'VALIDATION_ERROR',
      retryable: false,
      details: { errors: [{ path }] },
    });
  });

  it.each([
    ["new NodeError('no')", { code: 'NON_RETRYABLE', message: 'no', retryable: false }],
    [
      "new NodeError('busy', { retryable: true, details: { a: 1 } })",
      { code: 'RUNTIME_ERROR', message: 'busy', retryable: true, details: { a: 1 } },
    ],
    [
      "new TypeError('oops')",
      { code: 'RUNTIME_ERROR', message: 'oops', retryable: false, stack: expect.stringContaining('node-') },
    ],
    ["'text'", { code: 'RUNTIME_ERROR', message: 'text', retryable: false }],
    ['Object.create(null)', { code: 'RUNTIME_ERROR', message: 'Something was thrown that has no text' }],
  ])('maps a throw of %s', async (thrown, error) => {
    expect(errorOf(await invoke(NODE(`() => { throw ${thrown}; }`)))).toMatchObject(error);
  });

  it.each([
    ['is not valid', 'export default {', /Cannot load/],
    ['does not exist', undefined, /Cannot load/],
    ['exports no node', 'export default 1;', /exports no node/],
    ['imports what is missing', "import 'nowhere';", /nowhere/],
    [
      'has two nodes of one id',
      `${NODE('() => 1')} export const b = defineNode({ id: 'n', run: () => 2 });`,
      /Two nodes/,
    ],
  ])('answers with an error when the file %s', async (_name, source, message) => {
    const path = source === undefined ? join(directory, 'missing.ts') : file(source);

    expect(errorOf(await invokeNode(hosted(path), {}, options()))).toMatchObject({
      code: 'RUNTIME_ERROR',
      message: expect.stringMatching(message),
    });
    expect(await describeNode(hosted(path), options())).toMatchObject({ type: 'manifest', status: 'error' });
  });

  it('holds several nodes, chosen by name', async () => {
    const source = `export default [defineNode({ id: 'a', run: () => 'A' })];
      export const b = defineNode({ id: 'b', run: () => 'B' });
      export const c = defineConst({ id: 'c', value: { deep: [1] } });`;

    expect(await invoke(source, {}, { node: 'a' })).toMatchObject({ outputs: 'A' });
    expect(await invoke(source, {}, { node: 'b' })).toMatchObject({ outputs: 'B' });
    expect(await invoke(source, {}, { node: 'c' })).toMatchObject({ outputs: { deep: [1] } });
    for (const call of [{}, { node: 'x' }]) {
      expect(errorOf(await invoke(source, {}, call))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { nodes: ['a', 'b', 'c'] },
      });
    }
    expect(await describeNode(hosted(file(source)), options())).toMatchObject({
      manifest: { id: 'a', kind: 'function', nodes: ['a', 'b', 'c'] },
    });
    expect(await describeNode(hosted(file(source)), { ...options(), node: 'c' })).toMatchObject({
      manifest: { id: 'c', kind: 'const' },
    });
  });

  it('describes what the definition says', async () => {
    const more = "label: 'L', icon: 'wave', symbol: 'N', config: { k: 1 }, inputs: true, setup: ['x'],";

    expect(await describeNode(hosted(file(NODE('() => 1', more))), options())).toMatchObject({
      manifest: {
        id: 'n',
        language: 'typescript',
        kind: 'function',
        label: 'L',
        icon: 'wave',
        symbol: 'N',
        config: { k: 1 },
        inputs: true,
        setup: ['x'],
      },
    });
  });

  it('answers a bad line as unknown, keeps the id of a bad request, exits with 0', async () => {
    const lines = ['nonsense', '', '{"octonode":"1","type":"other","invocationId":"x"}'];

    const { answers, exitCode } = await talk(file(NODE('() => 1')), lines);

    expect(answers).toMatchObject([
      { invocationId: 'unknown', status: 'error', error: { code: 'VALIDATION_ERROR' } },
      { invocationId: 'x', status: 'error', error: { code: 'VALIDATION_ERROR' } },
    ]);
    expect(exitCode).toBe(0);
  });

  it('works on many requests of a worker at once', async () => {
    const worker = createNodeWorker(
      hosted(
        file(NODE('async (ms: number) => { await new Promise((done) => setTimeout(done, ms)); return ms; }')),
      ),
      options(),
    );
    const order: number[] = [];

    await Promise.all([300, 1].map((ms) => worker.invoke(ms).then(() => order.push(ms))));
    await worker.close();

    expect(order).toEqual([1, 300]);
  });
});

function talk(path: string, lines: string[]): Promise<{ answers: unknown[]; exitCode: number | null }> {
  return new Promise((resolve) => {
    const [program, ...args] = hosted(path);
    let text = '';
    let open = 2;
    let exit: number | null = null;
    const settle = (): void => {
      if (open === 0)
        resolve({
          answers: text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
          exitCode: exit,
        });
    };
    const child = launchWithNode(
      { file: program, args, cwd: directory, env: process.env as Record<string, string>, stdin: 'pipe' },
      {
        onChunk: (stream, chunk) => {
          if (stream === 'stdout') text += chunk;
        },
        onPipeEnd: (stream) => {
          if (stream === 'stdout') {
            open -= 1;
            settle();
          }
        },
        onExit: (exitCode) => {
          exit = exitCode;
          open -= 1;
          settle();
        },
        onFailed: () => {},
      },
    );
    child?.stdin?.write(`${lines.join('\n')}\n`);
    child?.stdin?.end();
  });
}
