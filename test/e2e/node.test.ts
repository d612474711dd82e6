import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const BURROW = process.env.BURROW_BINARY ?? new URL('../../dist/burrow', import.meta.url).pathname;
const TSC = new URL('../../node_modules/.bin/tsc', import.meta.url).pathname;
const NODES = new URL('../fixtures/nodes/', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'burrow-node-'));
afterAll(() => rmSync(directory, { recursive: true }));

function burrow(
  args: string[],
  more: { input?: string; cwd?: string; env?: Record<string, string> } = {},
): SpawnSyncReturns<string> {
  return spawnSync(BURROW, args, { encoding: 'utf8', cwd: directory, ...more });
}

function run(...args: string[]): SpawnSyncReturns<string> {
  return burrow(['node', 'run', ...args]);
}

describe('burrow node run', () => {
  it('runs a TypeScript file with nothing installed: no PATH, no HOME, no place for temporary files', () => {
    const ran = burrow(['node', 'run', `${NODES}greet.ts`, '--inputs', '{"name":"Ada"}'], {
      env: { TMPDIR: '/nonexistent' },
    });

    expect(ran).toMatchObject({ stdout: '{"greeting":"Hello, Ada"}\n', stderr: '', status: 0 });
  });

  it('runs a file relative to the current directory', () => {
    expect(burrow(['node', 'run', 'greet.js', '--inputs={"name":"B"}'], { cwd: NODES })).toMatchObject({
      stdout: '{"greeting":"Hello, B"}\n',
      status: 0,
    });
  });

  it.each([['greet.py'], ['greet.sh'], ['greet.pl'], ['greet.tcl']])('knows how to start %s', (file) => {
    expect(run(`${NODES}${file}`, '--inputs', '{"name":"Ada"}').stdout).toBe('{"greeting":"Hello, Ada"}\n');
  });

  it('runs an executable whose first line calls burrow', () => {
    const text = '#!/usr/bin/env -S burrow node host\nexport default { id: "n", run: (inputs) => inputs };\n';
    writeFileSync(join(directory, 'shebang'), text, { mode: 0o755 });

    const ran = burrow(['node', 'run', './shebang', '--inputs', '[1]'], {
      env: { PATH: `${dirname(BURROW)}:/usr/bin:/bin` },
    });

    expect(ran).toMatchObject({ stdout: '[1]\n', stderr: '', status: 0 });
  });

  it('runs the command after --', () => {
    expect(run('--inputs', '{"name":"Ada"}', '--', 'python3', `${NODES}greet.py`).stdout).toBe(
      '{"greeting":"Hello, Ada"}\n',
    );
  });

  it('takes inputs from a file and from stdin', () => {
    writeFileSync(join(directory, 'inputs.json'), '{"name":"File"}');

    expect(run(`${NODES}greet.ts`, '--inputs', '@inputs.json').stdout).toBe('{"greeting":"Hello, File"}\n');
    expect(
      burrow(['node', 'run', `${NODES}greet.ts`, '--inputs', '-'], { input: '{"name":"Stdin"}\n' }).stdout,
    ).toBe('{"greeting":"Hello, Stdin"}\n');
  });

  it('runs on empty inputs without --inputs', () => {
    expect(run(`${NODES}greet.ts`).stdout).toBe('{"greeting":"Hello, world"}\n');
  });

  it('prints the whole envelope, also of an error', () => {
    const ok = run(`${NODES}greet.ts`, '--envelope');
    const failed = run(`${NODES}greet.ts`, '--envelope', '--inputs', '{"name":1}');

    expect(JSON.parse(ok.stdout)).toMatchObject({
      octonode: '1',
      type: 'result',
      status: 'ok',
      outputs: { greeting: 'Hello, world' },
    });
    expect(JSON.parse(failed.stdout)).toMatchObject({
      status: 'error',
      error: { code: 'VALIDATION_ERROR', details: { errors: [{ path: '/name' }] } },
    });
    expect(failed).toMatchObject({ stderr: '', status: 1 });
  });

  it('says CODE: message on stderr without --envelope', () => {
    const failed = run(`${NODES}greet.ts`, '--inputs', '{"name":1}');

    expect(failed).toMatchObject({ stdout: '', status: 1 });
    expect(failed.stderr).toMatch(/^VALIDATION_ERROR: Inputs of node "greet" .*\n$/);
  });

  it('exits with 124 when the node is out of time', () => {
    const failed = run('--timeout', '200ms', '--', 'sleep', '60');

    expect(failed).toMatchObject({ stdout: '', status: 124 });
    expect(failed.stderr).toMatch(/^TIMEOUT: /);
  });

  it('passes stderr on and names what a polluted stdout holds', () => {
    const failed = run('--', 'perl', `${NODES}scripted.pl`, 'read', 'err:3', 'print:banner\n', 'answer');

    expect(failed.stderr).toMatch(
      /^eeeRUNTIME_ERROR: .*scripted\.pl.*text before its answer: "banner" \(exit status 0\)\n$/s,
    );
  });

  it('warns about a bad exit after a good answer', () => {
    const ran = run('--', 'perl', `${NODES}scripted.pl`, 'read', 'answer', 'exit:3');

    expect(ran).toMatchObject({
      stdout: '{"v":1}\n',
      status: 0,
      stderr: expect.stringContaining('exit status 3'),
    });
  });

  it('says so when outputs are too deep to be written', () => {
    const deep =
      'import json, sys\nid = json.loads(input())["invocationId"]\nn = 200000\nprint(\'{"octonode":"1","type":"result","status":"ok","invocationId":"%s","outputs":%s}\' % (id, "[" * n + "]" * n))';

    expect(run('--', 'python3', '-c', deep)).toMatchObject({
      stdout: '',
      status: 1,
      stderr: expect.stringMatching(/^RUNTIME_ERROR: Answer cannot be printed/),
    });
  });

  it('exits with 130 on Ctrl-C and ends the node', async () => {
    const child = spawn(BURROW, ['node', 'run', '--', 'sh', '-c', 'echo started >&2; exec sleep 60'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.once('data', () => child.kill('SIGINT'));

    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(130);
  });

  it.each([
    [['nowhere'], /neither a file nor a node/],
    [[], /No node is given/],
    [[`${NODES}greet.ts`, '--inputs', '{'], /does not hold JSON/],
    [[`${NODES}greet.ts`, '--inputs', '@missing.json'], /ENOENT/],
    [[`${NODES}greet.ts`, '--timeout', 'soon'], /takes a duration/],
    [[`${NODES}greet.ts`, '--envelop'], /Did you mean "--envelope"/],
  ])('refuses %j as bad usage', (args, message) => {
    expect(run(...args)).toMatchObject({ stdout: '', status: 2, stderr: expect.stringMatching(message) });
  });
});

describe('burrow node run --worker', () => {
  const lines = (...values: unknown[]): string =>
    values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const SLOW_FIRST =
    "export default { id: 'n', run: async (ms) => { await new Promise((done) => setTimeout(done, ms)); return ms; } };";

  it('answers a line for each line, in input order', () => {
    writeFileSync(join(directory, 'slow.mjs'), SLOW_FIRST);
    const ran = burrow(['node', 'run', '--worker', 'slow.mjs'], { input: lines(300, 1, 2) });

    expect(ran).toMatchObject({ stdout: '300\n1\n2\n', stderr: '', status: 0 });
  });

  it('answers as results come with --unordered', () => {
    expect(
      burrow(['node', 'run', '--worker', '--unordered', 'slow.mjs'], { input: lines(500, 1) }).stdout,
    ).toBe('1\n500\n');
  });

  it('answers a bad line and a failed call in their place, and exits with 1', () => {
    const ran = burrow(['node', 'run', '--worker', '--envelope', `${NODES}greet.ts`], {
      input: `{"name":"A"}\nnonsense\n{"name":1}\n{"name":"B"}`,
    });

    const envelopes = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(envelopes.map(({ status, error, outputs }) => error?.code ?? outputs.greeting ?? status)).toEqual([
      'Hello, A',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'Hello, B',
    ]);
    expect(ran.status).toBe(1);
  });

  it('serves more lines in one chunk than may wait', () => {
    const input = '1\n'.repeat(50_000);

    expect(burrow(['node', 'run', '--worker', `${NODES}echo.ts`], { input })).toMatchObject({
      stdout: input,
      stderr: '',
      status: 0,
    });
  });

  it('stops when nobody reads any more', () => {
    const script = `yes 1 | "${BURROW}" node run --worker "${NODES}echo.ts" | head -n 2`;

    expect(spawnSync('sh', ['-c', script], { encoding: 'utf8', timeout: 10_000 })).toMatchObject({
      stdout: '1\n1\n',
      status: 0,
    });
  });

  it('serves ten thousand lines', () => {
    const ran = burrow(['node', 'run', '--worker', `${NODES}echo.ts`], {
      input: lines(...Array.from({ length: 10_000 }, (_, index) => index)),
    });

    expect(ran.stdout).toBe(lines(...Array.from({ length: 10_000 }, (_, index) => index)));
    expect(ran.status).toBe(0);
  });

  it('ends at once on no input', () => {
    expect(burrow(['node', 'run', '--worker', `${NODES}greet.ts`], { input: '' })).toMatchObject({
      stdout: '',
      status: 0,
    });
  });
});

describe('burrow node host', () => {
  it('waits for a slow reader and loses nothing', () => {
    const request =
      '{"octonode":"1","type":"invoke","invocationId":"a","inputs":1,"context":{"config":{},"attempt":1}}';
    const script = `yes '${request}' | head -n 50000 | "${BURROW}" node host "${NODES}echo.ts" | (sleep 1; wc -l)`;

    expect(spawnSync('sh', ['-c', script], { encoding: 'utf8' })).toMatchObject({
      stdout: expect.stringMatching(/^ *50000\n$/),
      stderr: '',
    });
  });
});

describe('burrow node describe', () => {
  it('prints the manifest, one field a line or as JSON', () => {
    expect(burrow(['node', 'describe', `${NODES}greet.ts`]).stdout).toMatch(
      /^id +greet\nlanguage +typescript\n/,
    );
    expect(JSON.parse(burrow(['node', 'describe', '--json', `${NODES}greet.ts`]).stdout)).toMatchObject({
      id: 'greet',
      icon: 'wave',
    });
  });

  it('fails with the reason', () => {
    expect(burrow(['node', 'describe', '--', 'sh', '-c', 'exit 3'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('exit status 3'),
    });
  });
});

describe('burrow node bench', () => {
  it('compares the three modes', () => {
    const ran = burrow(['node', 'bench', '--runs', '2', `${NODES}echo.ts`]);

    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(/^one-shot .*█.* 1\.0x .*\nwarm .*\nworker .*\n$/);
  });

  it('says what went wrong', () => {
    expect(burrow(['node', 'bench', '--', 'false'])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^RUNTIME_ERROR/),
    });
  });
});

describe('burrow node new', () => {
  const CHECKS: Record<string, [test: string[], files: string[]]> = {
    typescript: [
      ['sh', 'hello-ts.test.sh'],
      ['hello-ts.test.sh', 'hello-ts.ts'],
    ],
    python: [
      ['python3', 'test_hello-py.py'],
      ['hello-py.py', 'test_hello-py.py'],
    ],
    sh: [
      ['sh', 'hello-sh.test.sh'],
      ['hello-sh.sh', 'hello-sh.test.sh'],
    ],
  };

  it.each(Object.entries(CHECKS))('begins a node in %s whose test passes', (language, [test, files]) => {
    const name = files.map((file) => /hello-\w+/.exec(file)?.[0])[0] ?? '';
    const made = burrow(['node', 'new', language, name, '--dir', language]);
    const [program = '', ...args] = test;
    const tested = spawnSync(program, args, {
      cwd: join(directory, language),
      env: { ...process.env, BURROW },
      encoding: 'utf8',
    });

    expect(made.status).toBe(0);
    expect(
      readdirSync(join(directory, language))
        .filter((file) => file.includes('hello'))
        .sort(),
    ).toEqual(files);
    expect(tested, tested.stdout + tested.stderr).toMatchObject({ status: 0 });
    expect(
      burrow([
        'node',
        'run',
        join(language, files.find((file) => !file.includes('test')) ?? ''),
        '--inputs',
        '{"name":"Ada"}',
      ]).stdout,
    ).toBe('{"greeting":"Hello, Ada"}\n');
  });

  it('writes nothing over', () => {
    burrow(['node', 'new', 'sh', 'twice']);

    expect(burrow(['node', 'new', 'sh', 'twice'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('exists already'),
    });
  });

  it.runIf(process.platform === 'linux')('fails at once where no directory can be made', () => {
    const args = ['-k', '1', '20', BURROW, 'node', 'new', 'sh', 'x', '--dir', '/proc/q'];

    expect(spawnSync('timeout', args, { encoding: 'utf8' })).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^burrow: Cannot make "\/proc\/q": .+\n$/),
      status: 1,
    });
  });

  it.each([[['cobol']], [['sh', '../evil']], [[]]])('refuses %j as bad usage', (args) => {
    expect(burrow(['node', 'new', ...args]).status).toBe(2);
  });
});

describe('burrow node types', () => {
  it('declares burrow/node for a compiler', () => {
    const project = join(directory, 'typed');
    burrow(['node', 'new', 'typescript', 'greet', '--dir', project]);
    writeFileSync(join(project, 'burrow-node.d.ts'), burrow(['node', 'types']).stdout);
    writeFileSync(
      join(project, 'wrong.ts'),
      "import { defineNode } from 'burrow/node';\nexport default defineNode({ id: 1, run: () => 1 });\n",
    );
    const compile = (file: string): SpawnSyncReturns<string> =>
      spawnSync(
        TSC,
        ['--noEmit', '--strict', '--module', 'nodenext', '--types', '', 'burrow-node.d.ts', file],
        { cwd: project, encoding: 'utf8' },
      );

    expect(compile('greet.ts')).toMatchObject({ stdout: '', status: 0 });
    expect(compile('wrong.ts').stdout).toContain('wrong.ts(2');
  });
});
