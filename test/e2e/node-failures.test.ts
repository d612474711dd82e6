// Nodes that fail behind the back of their call, through the built binary: whose fault it is, and where.
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, readWhenWhole, temporaryDirectory, until } from './daemon.ts';

function run(
  source: string,
  options: { name?: string; args?: string[]; input?: string } = {},
): SpawnSyncReturns<string> {
  const { name = 'n.mjs', args = [], input = '' } = options;
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, name), source);
  // What a node throws must not be able to hang the suite.
  const command = ['-k', '1', '20', BURROW, 'node', 'run', ...args, name];
  const ran = spawnSync('timeout', command, { cwd, input, encoding: 'utf8' });
  return { ...ran, stderr: ran.stderr.replaceAll(cwd, '.') };
}

describe('burrow node run', () => {
  it.each([
    ["setTimeout(() => { throw new Error('late') }, 10)", 'late'],
    ["Promise.reject(new Error('rejected'))", 'rejected'],
  ])('answers with what the node throws outside of the call: %s', (statement, message) => {
    const ran = run(`export default { id: 'n', run() { ${statement}; return new Promise(() => {}); } };`);

    expect(ran).toMatchObject({ stdout: '', stderr: `RUNTIME_ERROR: ${message}\n`, status: 1 });
  });

  it('lets the answer stand when a promise is left behind rejected, and warns', () => {
    const ran = run(
      "export default { id: 'n', run() { void Promise.reject(new Error('stray')); return 1; } };",
    );

    expect(ran).toMatchObject({ stdout: '1\n', status: 0 });
    expect(ran.stderr).toMatch(
      /^Node threw outside of any call: Error: stray\n( +at .+\n)+burrow: .+ answered ok, then ended badly \(exit status 1\)\n$/,
    );
  });

  it('goes on with a new worker', () => {
    const source = `export default { id: 'n', run(input) {
      if (input !== 'bad') return input;
      setTimeout(() => { throw new Error('late') });
      return new Promise(() => {});
    } };`;

    const ran = run(source, { args: ['--worker', '--concurrency', '1'], input: '1\n"bad"\n2\n"bad"\n3\n' });

    const answers = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).error?.message ?? JSON.parse(line));
    expect(answers).toEqual([1, 'late', 2, 'late', 3]);
    expect(ran).toMatchObject({ stderr: 'RUNTIME_ERROR: late\nRUNTIME_ERROR: late\n', status: 1 });
  });

  it.each([
    ['n.ts', 'let a: number;\nlet b = [1 2];\n', "./n.ts:2:12: Expected ',', got 'numeric literal'"],
    ['n.ts', '\nenum Color { Red }\n', './n.ts:2:1: TypeScript enum is not supported in strip-only mode'],
    ['n.mjs', 'export default {\n  a: [1 2] };\n', './n.mjs:2:9: Unexpected number'],
    ['n.cjs', "\n\nthrow new Error('at import');\n", './n.cjs:3:7: at import'],
    ['n.mjs', 'await new Promise(() => {});\n', './n.mjs: its top-level await never settles'],
  ])('names the place where %s does not load', (name, source, message) => {
    expect(run(source, { name })).toMatchObject({
      stdout: '',
      stderr: `RUNTIME_ERROR: Cannot load the node: ${message}\n`,
      status: 1,
    });
  });

  it.each([
    ['one-shot', ['node', 'run', 'n.mjs']],
    ['worker', ['node', 'run', '--worker', 'n.mjs']],
    ['of a flow', ['flow', 'run', 'f']],
  ])('leaves no node behind when it is killed: %s', async (_name, args) => {
    const cwd = temporaryDirectory();
    const write = "import { writeFileSync } from 'node:fs';\nwriteFileSync('pid', process.pid + '\\n');";
    const run = 'run() { setInterval(() => {}, 1_000); return new Promise(() => {}); }';
    writeFileSync(join(cwd, 'n.mjs'), `${write}\nexport default { id: 'n', ${run} };`);
    const node = { id: 'n', signature: { command: ['burrow', 'node', 'host', 'n.mjs'] } };
    const workflows = [{ id: 'f', nodes: ['n'] }];
    writeFileSync(
      join(cwd, '.octonode'),
      JSON.stringify({ apiVersion: 'octonode.dev/v1', nodes: [node], workflows }),
    );
    const engine = spawn(BURROW, args, { cwd, stdio: ['pipe', 'ignore', 'ignore'] });
    onTestFinished(() => void engine.kill('SIGKILL'));
    engine.stdin?.write('1\n');
    const pid = Number(await readWhenWhole(join(cwd, 'pid')));

    engine.kill('SIGKILL');

    await until('the node is gone', () => !isRunning(pid));
  });
});

/** Not what ended and only waits for its parent to look. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
