import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  findNode,
  findProject,
  loadProject,
  parseProject,
  saveProject,
  splitWords,
} from '../../../src/octonode/project/project.ts';

const directory = mkdtempSync(join(tmpdir(), 'octonode-project-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function problems(text: string): Promise<string[]> {
  const reading = await parseProject(text);
  if (reading.status === 'ok') return [];
  return reading.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
}

describe('parseProject()', () => {
  it.each([
    ['apiVersion: octonode.dev/v2\n', '1:1: "apiVersion": Expected "octonode.dev/v1"'],
    ['nodes: []\n', '1:1: Key "apiVersion" is missing'],
    ['apiVersion: octonode.dev/v1\nnodes:\n  - signature: {}\n', '3:5: Key "nodes.0.id" is missing'],
    [
      'apiVersion: octonode.dev/v1\nnodes:\n  - id: a\n    runtime: {timout_ms: 5}\n',
      '4:15: Key "nodes.0.runtime.timout_ms" is not known',
    ],
    [
      'apiVersion: octonode.dev/v1\nworkflows:\n  - id: w\n    nodes: [a]\n    on_error: {policy: stop}\n',
      '5:16: "workflows.0.on_error.policy": Expected "halt" or "continue"',
    ],
    ['{"apiVersion": "octonode.dev/v1",\n "nodes": 5}', '2:2: "nodes": Expected a list, not a number'],
    [
      'apiVersion: octonode.dev/v1\nsources: [[]]\nnodes:\n- 5\n- {id: a, runtime: {retries: 1.5}}\n',
      '5:21: "nodes.1.runtime.retries": Expected a whole number',
    ],
    [
      'apiVersion: octonode.dev/v1\nnodes: [\n',
      '3:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['apiVersion: octonode.dev/v1\napiVersion: octonode.dev/v1\n', '2:1: Map keys must be unique'],
    ['just text\n', '1:1: Expected a mapping that begins with "apiVersion"'],
  ])('tells what is wrong in %j, with line and column', async (text, expected) => {
    expect(await problems(text)).toContain(expected);
  });

  it('lists every problem in the order of the lines', async () => {
    const text =
      'apiVersion: octonode.dev/v1\nnodes:\n  - id: ""\n  - id: b\n    disabled: perhaps\nextra: 1\n';

    expect((await problems(text)).map((problem) => problem.slice(0, 3))).toEqual(['3:5', '5:5', '6:1']);
  });

  it('ignores keys that begin with x- and follows aliases and merge keys', async () => {
    const reading = await parseProject(
      'x-slow: &slow {timeout_ms: 90000}\napiVersion: octonode.dev/v1\nnodes:\n- id: a\n  runtime: {<<: *slow, retries: 2}\n',
    );

    expect(reading).toMatchObject({
      parsed: { content: { nodes: [{ runtime: { timeout_ms: 90_000, retries: 2 } }] } },
    });
  });

  it('refuses aliases that multiply without end', async () => {
    const layers = Array.from(
      { length: 12 },
      (_, n) => `x-${n}: &a${n} [${`*a${n - 1},`.repeat(n === 0 ? 0 : 9)} 1]`,
    );

    expect(await problems(`${layers.join('\n')}\napiVersion: octonode.dev/v1\n`)).toEqual([
      expect.stringMatching(/alias count/i),
    ]);
  });
});

describe('findProject()', () => {
  it('looks in the directory and upwards', () => {
    mkdirSync(join(directory, 'a/b/c'), { recursive: true });
    writeFileSync(join(directory, 'a/.octonode'), 'apiVersion: octonode.dev/v1\n');

    expect(findProject(join(directory, 'a/b/c'))).toEqual({
      status: 'found',
      path: join(directory, 'a/.octonode'),
      directory: join(directory, 'a'),
    });
    expect(findProject(directory)).toEqual({ status: 'missing' });
  });

  it.each<[string, (path: string) => void, string]>([
    ['a directory', (path) => mkdirSync(path), 'a directory, not a file'],
    ['a FIFO', (path) => execFileSync('mkfifo', [path]), 'not a regular file'],
    ['a link to itself', (path) => symlinkSync('.octonode', path), 'not to be read (ELOOP)'],
  ])('refuses %s in the directory itself, and does not see it from below', (name, put, problem) => {
    const start = join(directory, name);
    const path = join(start, '.octonode');
    mkdirSync(join(start, 'below'), { recursive: true });
    put(path);

    expect(findProject(start)).toEqual({ status: 'unusable', path, problem });
    expect(findProject(join(start, 'below'))).toEqual({ status: 'missing' });
  });
});

describe('saveProject()', () => {
  it('keeps the mode and the link, and leaves an equal file alone', async () => {
    const file = join(directory, 'real');
    const link = join(directory, 'link');
    writeFileSync(file, 'old');
    chmodSync(file, 0o640);
    symlinkSync('real', link);

    expect(await saveProject(link, 'new')).toBe(true);
    const { ino, mode } = statSync(file);
    expect(await saveProject(link, 'new')).toBe(false);

    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(mode & 0o777).toBe(0o640);
    expect(statSync(file).ino).toBe(ino);
  });
});

describe('loadProject()', () => {
  it('names the file that is not valid', async () => {
    const path = join(directory, 'bad');
    writeFileSync(path, 'nodes: 1\n');

    expect(await loadProject(path)).toMatchObject({ status: 'invalid', path });
  });
});

describe('splitWords()', () => {
  it.each([
    ['python3  nodes/greet.py', ['python3', 'nodes/greet.py']],
    [`sh -c 'a b' "c \\" d" e\\ f g"h"i`, ['sh', '-c', 'a b', 'c " d', 'e f', 'ghi']],
    ['', []],
  ])('splits %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});

describe('findNode()', () => {
  it('finds a node by its id and a service by its method', () => {
    const service = { id: 'db', signature: { service: { methods: [{ name: 'get' }] } } };

    expect(findNode([service, { id: 'x.y' }], 'db.get')).toBe(service);
    expect(findNode([service], 'db.put')).toBeUndefined();
    expect(findNode([service, { id: 'x.y' }], 'x.y')).toEqual({ id: 'x.y' });
  });
});
