import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readWhenWhole } from './daemon.ts';

const BURROW = process.env.BURROW_BINARY ?? new URL('../../dist/burrow', import.meta.url).pathname;
const STEP = new URL('../fixtures/nodes/step.py', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'burrow-flow-'));
afterAll(() => rmSync(directory, { recursive: true }));

writeFileSync(
  join(directory, '.octonode'),
  `apiVersion: octonode.dev/v1
environments:
  prod: {secrets: [API_KEY]}
nodes:
  - id: step
    signature: {language: python, command: [python3, ${STEP}]}
    runtime: {retries: 1, retry_backoff_ms: 10}
workflows:
  - id: sum
    nodes: [{id: one, node: step}, {id: two, node: step}]
    edges: [{from: {node: one, output: sum}, to: {node: two, input: a}}]
    bindings: {one: {a: $inputs.start}}
  - id: fails
    nodes: [{id: good, node: step}, {id: bad, node: step}]
    bindings: {bad: {failures: 9}}
    on_error: {policy: continue}
  - id: hangs
    nodes: [{id: slow, node: step}]
    bindings: {slow: {sleep: 600}}
  - id: wrong
    nodes: [a, {id: x, node: step}, {id: y, node: step}]
    edges:
      - {from: {node: x}, to: {node: y}}
      - {from: {node: y}, to: {node: x}, kind: control}
`,
);

function flow(
  args: string[],
  env: Record<string, string> = {},
): { stdout: string; stderr: string; status: number | null } {
  const options = {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', ...env },
  } as const;
  const { stdout, stderr, status } = spawnSync(BURROW, ['flow', ...args], options);
  return { stdout, stderr, status };
}

describe('burrow flow check', () => {
  it('says that a workflow is good', () => {
    expect(flow(['check', 'sum'])).toEqual({ stdout: 'ok  sum  2 nodes\n', stderr: '', status: 0 });
  });

  it('tells every mistake at once, with line and column', () => {
    const file = join(directory, '.octonode');

    expect(flow(['check'])).toEqual({
      stdout: `${file}:21:13: Workflow "wrong": Node "a" is not in the project\n${file}:24:9: Workflow "wrong": Cycle: x → y → x\n`,
      stderr: '',
      status: 1,
    });
    expect(JSON.parse(flow(['check', 'wrong', '--json']).stdout)).toMatchObject({
      ok: false,
      problems: [{ line: 21 }, { line: 24 }],
    });
  });
});

describe('burrow flow run', () => {
  it('prints the outputs of the last node, and nothing else', () => {
    const { stdout, stderr, status } = flow(['run', 'sum', '--inputs', '{"start":40}']);

    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ sum: 42 });
  });

  it('prints events as JSON lines with the record last, and writes the record on request', () => {
    const { stdout, stderr, status } = flow(['run', 'fails', '--json', '--record', 'run.json']);

    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { event, ...record } = lines.at(-1);
    expect({ event, stderr, status }).toEqual({ event: 'run.ended', stderr: '', status: 1 });
    expect(lines.map((line) => line.event).toSorted()).toEqual(
      [
        'run.started',
        'node.started',
        'node.started',
        'node.started',
        'node.retry',
        'node.ended',
        'node.ended',
        'run.ended',
      ].toSorted(),
    );
    expect(record).toMatchObject({
      status: 'partial',
      nodes: [
        { id: 'good', status: 'ok', attempts: 1 },
        { id: 'bad', status: 'error', attempts: 2, error: { message: 'As asked' } },
      ],
    });
    expect(JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8'))).toEqual(record);
    expect(statSync(join(directory, 'run.json')).mode & 0o777).toBe(0o600);
  });

  it('tells a person what went wrong', () => {
    const { stderr, status } = flow(['run', 'fails']);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^retry {6}bad {2}attempt 2 in \d+ ms: RUNTIME_ERROR: As asked$/m);
    expect(stderr).toMatch(/^failed {5}bad {2}RUNTIME_ERROR: As asked \(attempt 2\)$/m);
    expect(stderr).toMatch(/^flow fails: partial in .* \(1 ok, 1 error\)$/m);
  });

  it('shows no secret: not in outputs, events, the record, or on stderr', () => {
    const secret = 'S3CR3T-abcdef-0123';

    const { stdout, stderr, status } = flow(
      [
        'run',
        'sum',
        '--inputs',
        `{"start":1,"note":"${secret}"}`,
        '--env',
        'prod',
        '--json',
        '--record',
        'secret.json',
      ],
      { API_KEY: secret, STEP_SAYS: `the key is ${secret}\n` },
    );

    expect(status).toBe(0);
    expect(stderr).toContain('one | the key is [redacted]\n');
    expect(stdout).toContain('"secret":"[redacted]"');
    expect(stdout + stderr + readFileSync(join(directory, 'secret.json'), 'utf8')).not.toContain('S3CR3T');
  });

  it.each([
    [['run', 'wrong'], 1, 'Cycle: x → y → x'],
    [['run', 'sum', '--env', 'prod'], 1, 'Secret "API_KEY" is not set in the environment of the caller'],
    [['run', 'sum'], 1, 'Binding "one.a": nothing is there for $inputs.start'],
    [['run', 'sun'], 2, 'Did you mean "sum"?'],
    [['run', 'sum', '--env', 'prd'], 2, 'Did you mean "prod"?'],
    [['run', 'sum', '--inputs', '{"start":1}', '--record', 'no/such/r.json'], 2, 'is no directory'],
  ])('runs nothing for %j', (args, expected, message) => {
    const { stdout, stderr, status } = flow(args);

    expect({ stdout, status }).toEqual({ stdout: '', status: expected });
    expect(stderr).toContain(message);
  });

  it('exits with 124 when the run takes too long', () => {
    expect(flow(['run', 'hangs', '--timeout', '300ms'])).toMatchObject({ stdout: '', status: 124 });
  });

  it('cancels what runs at Ctrl-C, writes the record and leaves nothing behind', async () => {
    const log = join(directory, 'hangs.log');
    const child = spawn(BURROW, ['flow', 'run', 'hangs', '--record', 'cancelled.json'], {
      cwd: directory,
      stdio: 'ignore',
      env: { ...process.env, STEP_LOG: log },
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const { pid } = JSON.parse(await readWhenWhole(log));

    child.kill('SIGINT');

    expect(await ended).toBe(130);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(JSON.parse(readFileSync(join(directory, 'cancelled.json'), 'utf8'))).toMatchObject({
      status: 'error',
      cancelled: true,
      nodes: [{ id: 'slow', status: 'cancelled', attempts: 1 }],
    });
  });

  it('shows on a terminal where the run is', () => {
    const pty = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
    const args = ['-c', pty, BURROW, 'flow', 'run', 'sum', '--inputs', '{"start":40}'];

    const { stdout, status } = spawnSync('python3', args, { cwd: directory, encoding: 'utf8' });

    expect(status).toBe(0);
    expect(stdout).toContain('flow sum 0/2  one');
    expect(stdout).toContain('flow sum: ok in');
  });
});
