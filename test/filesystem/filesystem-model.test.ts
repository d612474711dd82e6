// Random sequences of tool calls agree, answer by answer, with a plain model of a file tree.
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { callTool } from './call-tool.ts';
import { createFileTreeModel, type FileTreeModel, ModelError } from './file-tree-model.ts';

// BURROW_FUZZ_RUNS sets the number of sequences, for a longer or a shorter look.
const RUNS = Number(process.env.BURROW_FUZZ_RUNS ?? 10_000);
const LIMIT_MS = 240_000;

const base = mkdtempSync(join(hasSharedMemory() ? '/dev/shm' : tmpdir(), 'burrow-model-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Memory answers fsync at once; what a disk adds to these sequences is only time. */
function hasSharedMemory(): boolean {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const path = fc
  .array(fc.constantFrom('a', 'b', 'B', 'ä', '.d'), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'));
const text = fc.string({ unit: fc.constantFrom('x', 'y', '$&', '€', '\n', '\r\n'), maxLength: 6 });

type Step = (model: FileTreeModel, root: string) => Promise<void>;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(path, text).map(([at, content]) => writeStep(at, content)) },
  { weight: 3, arbitrary: fc.tuple(path, text, text).map(([at, old, next]) => editStep(at, old, next)) },
  { weight: 2, arbitrary: path.map(readStep) },
  { weight: 1, arbitrary: path.map(inspectStep) },
  { weight: 1, arbitrary: fc.constant(findStep) },
  { weight: 1, arbitrary: fc.constantFrom('x', '€', '$&', 'yy').map(searchStep) },
);

describe('the filesystem tools', () => {
  it(`agree with a model of a file tree over ${RUNS} random sequences`, { timeout: LIMIT_MS }, async () => {
    let count = 0;
    const sequences = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      count += 1;
      const root = join(base, String(count));
      const model = createFileTreeModel();
      mkdirSync(root);
      for (const run of steps) await run(model, root);
      await listStep(model, root);
      rmSync(root, { recursive: true });
    });

    await fc.assert(sequences, { numRuns: RUNS });

    expect(count).toBeGreaterThanOrEqual(RUNS);
  });
});

/** What the model answers, or the code it fails with. */
function expected(work: () => object): object {
  try {
    return { ok: true, error: null, ...work() };
  } catch (error) {
    if (error instanceof ModelError) return { ok: false, error: error.message };
    throw error;
  }
}

function writeStep(at: string, content: string): Step {
  return async (model, root) => {
    const wanted = expected(() => {
      const { created } = model.write(at, content);
      return { created, overwrote: !created, bytesWritten: Buffer.byteLength(content) };
    });
    expect(await callTool('files_write', { filePath: join(root, at), content })).toMatchObject(wanted);
  };
}

function editStep(at: string, oldText: string, newText: string): Step {
  return async (model, root) => {
    const wanted = expected(() => {
      model.edit(at, oldText, newText);
      return { replaced: 1 };
    });
    expect(await callTool('files_edit', { filePath: join(root, at), oldText, newText })).toMatchObject(
      wanted,
    );
  };
}

function readStep(at: string): Step {
  return async (model, root) => {
    const wanted = expected(() => ({ content: model.read(at), truncated: false }));
    expect(await callTool('files_read', { filePath: join(root, at) })).toMatchObject(wanted);
  };
}

function inspectStep(at: string): Step {
  return async (model, root) => {
    const wanted = expected(() => ({ type: model.typeOf(at), exists: model.typeOf(at) !== null }));
    expect(await callTool('files_inspect', { path: join(root, at) })).toMatchObject(wanted);
  };
}

async function listStep(model: FileTreeModel, root: string): Promise<void> {
  const listed = await callTool('files_list', { dirPath: root });
  expect(listed).toMatchObject({ entries: model.walk(), incomplete: false, warnings: [] });
}

async function findStep(model: FileTreeModel, root: string): Promise<void> {
  const found = await callTool('files_find', { dirPath: root, pattern: '**/b' });
  expect(found.paths).toEqual(
    model.walk().flatMap((entry) => (/(^|\/)b$/.test(entry.path) ? [entry.path] : [])),
  );
}

function searchStep(query: string): Step {
  return async (model, root) => {
    const files = model.walk().filter(({ type }) => type === 'file');
    const wanted = files.flatMap(({ path: filePath }) =>
      model
        .read(filePath)
        .split(/\r?\n/)
        .flatMap((line, index) => (line.includes(query) ? [{ filePath, line: index + 1, text: line }] : [])),
    );
    expect((await callTool('files_search', { dirPath: root, query })).matches).toEqual(wanted);
  };
}
