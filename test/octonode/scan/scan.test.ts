import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { afterEach, describe, expect, it } from 'vitest';
import { parseProject } from '../../../src/octonode/project/project.ts';
import {
  BAD,
  manifestNode,
  node,
  projectText,
  put,
  putHealthyNodes,
  scan,
  temporaryProject,
} from './projects.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function project(files: Record<string, string> = {}): string {
  const directory = temporaryProject(files);
  directories.push(directory);
  return directory;
}

async function entries(directory: string): Promise<Record<string, Record<string, unknown>>> {
  const reading = await parseProject(projectText(directory));
  if (reading.status === 'invalid') throw new Error(JSON.stringify(reading.problems));
  return Object.fromEntries((reading.parsed.content.nodes ?? []).map((entry) => [entry.id, entry]));
}

describe('scanProject()', () => {
  it('describes 60 nodes in five languages, and each bad one costs its own line and no more time than its deadline', async () => {
    const bad = Object.keys(BAD);
    const directory = project(BAD);
    const good = putHealthyNodes(directory, 60 - bad.length);
    const timeoutMs = 4_000;
    const startedAt = performance.now();

    const { report } = await scan(directory, { timeoutMs });

    expect(performance.now() - startedAt).toBeLessThan(timeoutMs + 2_000);
    expect(report.added.map(({ id }) => id).toSorted()).toEqual(good.toSorted());
    expect(report.failed.map(({ source }) => source).toSorted()).toEqual(bad.toSorted());
    const codes = Object.fromEntries(report.failed.map(({ source, code }) => [source.slice(10), code]));
    expect(codes).toMatchObject({
      'hang-1.sh': 'TIMEOUT',
      'hang-2.sh': 'TIMEOUT',
      'flood.sh': 'RUNTIME_ERROR',
      'flood-stderr.sh': 'TIMEOUT',
      'garbage.sh': 'RUNTIME_ERROR',
      'schema-type.sh': 'VALIDATION_ERROR',
      'schema-place.sh': 'VALIDATION_ERROR',
    });
    expect(report.failed.find(({ source }) => source.endsWith('crash.py'))?.stderrTail).toBe(
      'no configuration found\n',
    );
    expect(
      new Set(
        Object.values(await entries(directory)).map(
          ({ signature }) => (signature as { language: string }).language,
        ),
      ),
    ).toEqual(new Set(['typescript', 'python', 'sh', 'c', 'perl']));
  }, 60_000);

  it('records a checksum over the canonical JSON of the rest of the signature', async () => {
    const directory = project({ 'nodes/a.js': node('a', { defaults: { z: 1, a: 'ü' } }) });

    await scan(directory);

    const { checksum, ...rest } = ((await entries(directory))['a']?.['signature'] ?? {}) as Record<
      string,
      unknown
    >;
    expect(checksum).toBe(
      createHash('sha256')
        .update(canonicalize(rest) ?? '')
        .digest('hex'),
    );
  });

  it('writes nothing when nothing changed', async () => {
    const directory = project({
      'nodes/a.js': node('a'),
      'nodes/b.js': node('b', { defaults: { text: 'a\nb: c # d' } }),
    });
    expect((await scan(directory)).written).toBe(true);
    const before = { text: projectText(directory), inode: statSync(join(directory, '.octonode')).ino };

    const { written, hasDrift, report } = await scan(directory);

    expect({ written, hasDrift }).toEqual({ written: false, hasDrift: false });
    expect(report.unchanged).toEqual(['a', 'b']);
    expect({ text: projectText(directory), inode: statSync(join(directory, '.octonode')).ino }).toEqual(
      before,
    );
  });

  it('only reports with check', async () => {
    const directory = project({ 'nodes/a.js': node('a') });

    const outcome = await scan(directory, { check: true });

    expect(outcome).toMatchObject({ hasDrift: true, written: false, report: { added: [{ id: 'a' }] } });
    expect(() => projectText(directory)).toThrow('ENOENT');
  });

  it('merges by id into a file that a person wrote: signatures move, all else stays to the byte', async () => {
    const text = readFileSync(new URL('../../fixtures/projects/hand-edited.yaml', import.meta.url), 'utf8');
    const directory = project({
      '.octonode': text,
      'nodes/greet.js': node('greet', { icon: 'new', config: { new: true } }),
    });
    await scan(directory);
    put(directory, 'nodes/greet.js', node('greet', { icon: 'newer', inputs: { type: 'string' } }));

    const { report } = await scan(directory);

    expect(report.changed.map(({ id, changes }) => [id, changes.map(({ path }) => path)])).toEqual([
      ['greet', ['inputs']],
    ]);
    const withoutSignatures = (yaml: string): string =>
      yaml.replace(/^( +)signature:.*\n(?:\1 +.*\n)*/gm, '$1signature\n');
    expect(projectText(directory)).toContain(
      '          # measured in Berlin\n          language: javascript # it was, once\n',
    );
    expect(withoutSignatures(projectText(directory))).toBe(withoutSignatures(text));
    expect((await entries(directory))['greet']).toMatchObject({
      signature: { inputs: { type: 'string' } },
      runtime: { retries: 3 },
      presentation: { icon: 'hand-drawn' },
    });
  });

  it('seeds icon and configuration once, when a node is recorded for the first time', async () => {
    const directory = project({
      'nodes/a.sh': manifestNode({ id: 'a', language: 'sh', icon: 'one', config: { deep: [1] } }),
    });
    await scan(directory);
    expect((await entries(directory))['a']?.['presentation']).toEqual({ icon: 'one', config: { deep: [1] } });
    writeFileSync(
      join(directory, '.octonode'),
      projectText(directory)
        .replace('icon: one', 'icon: mine')
        .replace(/ +config:\n +deep: .*\n/, ''),
    );
    put(
      directory,
      'nodes/a.sh',
      manifestNode({ id: 'a', language: 'sh2', icon: 'two', config: { deep: [2] } }),
    );

    await scan(directory);

    expect((await entries(directory))['a']).toMatchObject({
      signature: { language: 'sh2' },
      presentation: { icon: 'mine' },
    });
    expect((await entries(directory))['a']?.['presentation']).not.toHaveProperty('config');
  });

  it('marks what vanished, keeps what a person said about it, and takes the mark away when it is back', async () => {
    const directory = project({ 'nodes/a.js': node('a'), 'nodes/b.js': node('b') });
    await scan(directory);
    writeFileSync(
      join(directory, '.octonode'),
      projectText(directory).replace('- id: b\n', '- id: b\n    runtime: {retries: 7} # mine\n'),
    );
    const whole = projectText(directory);
    rmSync(join(directory, 'nodes/b.js'));

    const gone = await scan(directory);
    const again = await scan(directory);

    expect(gone.report.orphaned).toEqual([{ id: 'b', isNew: true }]);
    expect(again).toMatchObject({ written: false, report: { orphaned: [{ id: 'b', isNew: false }] } });
    expect((await entries(directory))['b']).toMatchObject({
      signature: { orphaned: true },
      runtime: { retries: 7 },
    });
    expect(projectText(directory)).toContain('# mine');
    put(directory, 'nodes/b.js', node('b'));
    const back = await scan(directory);
    expect(back.report.changed.map(({ id }) => id)).toEqual(['b']);
    expect(projectText(directory)).toBe(whole);
  });

  it('keeps the settings of an id whose file was renamed', async () => {
    const directory = project({ 'nodes/a.js': node('a') });
    await scan(directory);
    writeFileSync(join(directory, '.octonode'), `${projectText(directory)}    runtime: {timeout_ms: 9}\n`);
    renameSync(join(directory, 'nodes/a.js'), join(directory, 'nodes/better.js'));

    const { report } = await scan(directory);

    expect(report).toMatchObject({
      added: [],
      orphaned: [],
      changed: [{ id: 'a', changes: [{ path: 'command' }] }],
    });
    expect((await entries(directory))['a']).toMatchObject({
      runtime: { timeout_ms: 9 },
      signature: { command: ['burrow', 'node', 'host', 'nodes/better.js'] },
    });
  });

  it('leaves a recorded node alone when its program fails today', async () => {
    const directory = project({ 'nodes/a.js': node('a') });
    await scan(directory);
    const before = projectText(directory);
    put(directory, 'nodes/a.js', 'throw new Error("broken today");\n');

    const { report, written } = await scan(directory);

    expect(written).toBe(false);
    expect(report).toMatchObject({ orphaned: [], failed: [{ source: 'nodes/a.js' }] });
    expect(projectText(directory)).toBe(before);
  });

  it('reports each further program with the same id, and lets the recorded one keep it', async () => {
    const directory = project({ 'nodes/m.js': node('same') });
    await scan(directory);
    put(directory, 'nodes/a.js', node('same'));

    const { report } = await scan(directory);

    expect(report).toMatchObject({
      unchanged: ['same'],
      failed: [{ source: 'nodes/a.js', message: 'Id "same" is taken by nodes/m.js' }],
    });
  });

  it('takes commands, globs and files from the list, leaves out what begins with !, and finds nothing twice', async () => {
    const directory = project({
      '.octonode': `apiVersion: octonode.dev/v1
sources:
  - sh tools/cmd.sh --flag
  - 'extra/**/*.js'
  - {command: [sh, here.sh], cwd: tools}
  - nodes/listed.js
  - '!nodes/lib/**'
`,
      'tools/cmd.sh': manifestNode({ id: 'cmd', language: 'sh' }),
      'tools/here.sh': manifestNode({ id: 'here', language: 'sh' }),
      'extra/deep/x.js': node('x'),
      'extra/node_modules/y.js': node('y'),
      'nodes/listed.js': node('listed'),
      'nodes/lib/shared.js': 'export const shared = 1;\n',
      'nodes/found': manifestNode({ id: 'found', language: 'sh' }),
      'nodes/found.test.sh': '#!/bin/sh\nexit 1\n',
      'nodes/README.md': '#!/not/a/program\n',
      'nodes/data': 'not executable\n',
      'nodes/.hidden.js': node('hidden'),
    });

    const { report } = await scan(directory);

    expect(report.failed).toEqual([]);
    expect(report.added.map(({ id }) => id)).toEqual(['cmd', 'x', 'here', 'listed', 'found']);
    expect((await entries(directory))['here']?.['signature']).toMatchObject({
      command: ['sh', 'here.sh'],
      cwd: 'tools',
    });
  });

  it('records every node of a file that holds several', async () => {
    const directory = project({
      'nodes/many.js': 'export default [{ id: "one", run: () => 1 }, { id: "two", run: () => 2 }];\n',
    });

    const { report } = await scan(directory);

    expect(report.added.map(({ id }) => id)).toEqual(['one', 'two']);
  });

  it('does not lose what a person saved while programs were described', async () => {
    const directory = project({ 'nodes/a.js': node('a') });
    await scan(directory);
    put(directory, 'nodes/b.js', node('b'));

    await scan(directory, {
      onProgress: ({ done }) =>
        done === 0 && put(directory, '.octonode', `# saved meanwhile\n${projectText(directory)}`),
    });

    expect(projectText(directory)).toContain('# saved meanwhile');
    expect(Object.keys(await entries(directory))).toEqual(['a', 'b']);
  });

  it('runs no more at once than it may', async () => {
    const directory = project(
      Object.fromEntries(
        Array.from({ length: 9 }, (_, index) => [
          `nodes/n${index}.sh`,
          manifestNode({ id: `n${index}`, language: 'sh' }),
        ]),
      ),
    );
    let most = 0;

    await scan(directory, {
      jobs: 2,
      onProgress: ({ running }) => {
        most = Math.max(most, running.length);
      },
    });

    expect(most).toBe(2);
  });
});
