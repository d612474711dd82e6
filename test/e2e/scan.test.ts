import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BAD, manifestNode, node, put, putHealthyNodes } from '../octonode/scan/projects.ts';
import { readWhenWhole } from './daemon.ts';

const BURROW = process.env.BURROW_BINARY ?? new URL('../../dist/burrow', import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), 'burrow-scan-'));
afterAll(() => rmSync(root, { recursive: true }));

let projects = 0;

function project(files: Record<string, string>): string {
  projects += 1;
  const directory = join(root, `p${projects}`);
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) put(directory, name, text);
  return directory;
}

function burrow(cwd: string, ...args: string[]): { stdout: string; stderr: string; status: number | null } {
  const { stdout, stderr, status } = spawnSync(BURROW, args, { cwd, encoding: 'utf8' });
  return { stdout, stderr, status };
}

/** Runs `script` with the command as its arguments; root does so without the right to pass over modes. */
function restricted(cwd: string, script: string, args: readonly string[]): ReturnType<typeof burrow> {
  const prefix = process.geteuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
  const command = ['-c', script, cwd, ...prefix, BURROW, ...args];
  const { stdout, stderr, status } = spawnSync('sh', command, { cwd, encoding: 'utf8' });
  return { stdout, stderr, status };
}

describe('burrow scan', () => {
  it('prints what it found, then one line about the file that cannot be written', () => {
    const directory = project({ 'nodes/greet.sh': manifestNode({ id: 'greet', language: 'sh' }) });
    const file = join(directory, '.octonode');
    chmodSync(directory, 0o555);
    const stderr = `burrow: Cannot write "${file}": permission denied (EACCES)\n`;

    const text = restricted(directory, 'exec "$@"', ['scan']);
    const json = restricted(directory, 'exec "$@"', ['scan', '--json']);
    chmodSync(directory, 0o755);

    expect(text).toEqual({
      stdout: `added      greet  nodes/greet.sh\n1 added, 0 changed, 0 unchanged, 0 orphaned, 0 failed; ${file} is out of date\n`,
      stderr,
      status: 1,
    });
    expect(json).toMatchObject({ stderr, status: 1 });
    expect(JSON.parse(json.stdout)).toMatchObject({
      written: false,
      error: `Cannot write "${file}": permission denied (EACCES)`,
      drift: true,
      added: [{ id: 'greet' }],
    });
    expect(existsSync(file)).toBe(false);
  });

  it.each([{ args: ['scan'] }, { args: ['flow', 'check'] }])(
    'says so in a directory that it is not let into, or below one: $args',
    ({ args }) => {
      const directory = project({ 'below/nodes/greet.sh': '#!/bin/sh\n' });
      const below = join(directory, 'below');
      // Closed from inside: whoever is there stays there.
      const closing = (path: string): string =>
        `chmod 000 "${path}" && "$@"; status=$?; chmod 755 "${path}"; exit "$status"`;

      const ran = [directory, below].map((path) => restricted(path, closing(directory), args));

      const line = (path: string): string => `burrow: Directory "${path}" cannot be looked into (EACCES)`;
      expect(ran.map(({ stderr }) => stderr.split('\n')[0])).toEqual([line(directory), line(below)]);
      expect(ran).toMatchObject([
        { stdout: '', status: 2 },
        { stdout: '', status: 2 },
      ]);
    },
  );

  it('records, then finds nothing new and writes nothing, then says what changed', () => {
    const directory = project({ 'nodes/greet.js': node('greet') });
    const file = join(directory, '.octonode');

    expect(burrow(directory, 'scan')).toEqual({
      stdout: `added      greet  nodes/greet.js\n1 added, 0 changed, 0 unchanged, 0 orphaned, 0 failed; wrote ${file}\n`,
      stderr: '',
      status: 0,
    });
    const text = readFileSync(file);
    expect(burrow(directory, 'scan')).toEqual({
      stdout: `0 added, 0 changed, 1 unchanged, 0 orphaned, 0 failed; ${file} is up to date\n`,
      stderr: '',
      status: 0,
    });
    expect(readFileSync(file)).toEqual(text);
    put(directory, 'nodes/greet.js', node('greet', { inputs: { type: 'string' } }));
    const check = burrow(directory, 'scan', '--check');
    expect(check).toMatchObject({ status: 1, stderr: '' });
    expect(check.stdout).toContain('changed    greet  inputs added: {"type":"string"}\n');
    expect(readFileSync(file)).toEqual(text);
  });

  it.each([['scan'], ['scan', '--check'], ['flow', 'check'], ['flow', 'run', 'w'], ['node', 'run', 'greet']])(
    'says what is in the way when .octonode is a directory: %s %s',
    (...args) => {
      const directory = project({ '.octonode/file': '', 'nodes/greet.js': node('greet') });

      const ran = burrow(directory, ...args);

      expect(ran).toMatchObject({ stdout: '', status: 2 });
      expect(ran.stderr).toContain(
        `burrow: Project file "${join(directory, '.octonode')}" is a directory, not a file\n`,
      );
    },
  );

  it('describes 60 nodes, the bad ones with a line each, within the deadline and 2 s; JSON on demand', () => {
    const directory = project(BAD);
    const bad = Object.keys(BAD);
    const good = putHealthyNodes(directory, 60 - bad.length);
    const startedAt = performance.now();

    const { stdout, status } = burrow(root, 'scan', directory, '--timeout', '4s');

    expect(performance.now() - startedAt).toBeLessThan(6_000);
    expect(status).toBe(1);
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.startsWith('failed '))).toHaveLength(bad.length);
    expect(lines.filter((line) => line.startsWith('added '))).toHaveLength(good.length);
    expect(stdout).toContain('           | no configuration found\n');
    const again = burrow(directory, 'scan', '--json', '--timeout', '2s', '--jobs', '32');
    const report = JSON.parse(again.stdout);
    expect(report).toMatchObject({ drift: false, written: false, project: join(directory, '.octonode') });
    expect(report.failed).toHaveLength(bad.length);
  }, 60_000);

  it('finds the project from a directory below it', () => {
    const directory = project({ 'nodes/deep/a.js': node('a') });
    burrow(directory, 'scan');

    expect(burrow(join(directory, 'nodes/deep'), 'scan').stdout).toContain('1 unchanged');
  });

  it('tells the mistakes of the file with line and column', () => {
    const directory = project({
      '.octonode': 'apiVersion: octonode.dev/v1\nnodes:\n  - {id: a, runtime: {retry: 1}}\n',
    });

    expect(burrow(directory, 'scan')).toEqual({
      stdout: '',
      stderr: `${join(directory, '.octonode')}:3:23: Key "nodes.0.runtime.retry" is not known\n`,
      status: 1,
    });
  });

  it('shows progress on a terminal', () => {
    const directory = project({ 'nodes/a.js': node('a') });
    const pty = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

    const { stdout, status } = spawnSync('python3', ['-c', pty, BURROW, 'scan', directory], {
      encoding: 'utf8',
    });

    expect(status).toBe(0);
    expect(stdout).toContain('scan 0/1  nodes/a.js');
    expect(stdout).toMatch(/\r\x1b\[Kadded {6}a/);
  });

  it('is interrupted at once, writes nothing and leaves nothing behind', async () => {
    const directory = project({ 'nodes/hang.sh': `#!/bin/sh\necho $$ > "${root}/hanging"\nsleep 600\n` });
    const child = spawn(BURROW, ['scan', '--timeout', '60s'], { cwd: directory, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const pid = Number(await readWhenWhole(`${root}/hanging`));

    child.kill('SIGINT');

    expect(await ended).toBe(130);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(() => readFileSync(join(directory, '.octonode'))).toThrow('ENOENT');
  });
});

describe('burrow node', () => {
  it('runs and describes a node by the id that was recorded', () => {
    const directory = project({ 'nodes/greet.js': node('greet') });
    burrow(directory, 'scan');
    const below = join(directory, 'nodes');

    expect(burrow(below, 'node', 'run', 'greet', '--inputs', '[1]')).toMatchObject({
      stdout: '[1]\n',
      status: 0,
    });
    expect(JSON.parse(burrow(below, 'node', 'describe', 'greet', '--json').stdout)).toMatchObject({
      id: 'greet',
    });
    expect(burrow(below, 'node', 'run', 'gret')).toMatchObject({
      stderr: expect.stringContaining('Did you mean "greet"?'),
      status: 2,
    });
  });

  it('keeps to the time that the project gives a node', () => {
    const signature = 'signature: {command: [sleep, "60"]}';
    const directory = project({
      '.octonode': `apiVersion: octonode.dev/v1\nnodes:\n- {id: slow, runtime: {timeout_ms: 200}, ${signature}}\n`,
    });

    expect(burrow(directory, 'node', 'run', 'slow')).toMatchObject({ status: 124 });
  });
});
