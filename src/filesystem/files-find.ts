// files_find: the paths of a tree that match a glob. Directories match like files do.

import * as v from 'valibot';
import { createAnswerLimit, MAX_ANSWER_ENTRIES } from './answer-limit.ts';
import { argumentsObject, bound, PathSchema, plainText } from './arguments.ts';
import { createHangingMountTest } from './hanging-mounts.ts';
import { defineTool, resolvePath, type ToolAnswer, type ToolContext } from './tool.ts';
import { createCompleteness } from './walk/completeness.ts';
import { createGlob, MAX_PATTERN_CHARACTERS } from './walk/glob.ts';
import { walk } from './walk/walk.ts';

const DEFAULT_FIND_DEPTH = 8;
const DEFAULT_FIND_ENTRIES = 500;
/** Entries a find or a search visits when neither the request nor the host says otherwise. */
const DEFAULT_TRAVERSAL_ENTRIES = 4_000;

const FindSchema = argumentsObject({
  dirPath: PathSchema,
  pattern: v.optional(
    v.pipe(
      plainText('*'),
      v.maxLength(MAX_PATTERN_CHARACTERS, `Give at most ${MAX_PATTERN_CHARACTERS} characters`),
    ),
    '*',
  ),
  maxDepth: v.optional(bound(DEFAULT_FIND_DEPTH), DEFAULT_FIND_DEPTH),
  maxEntries: v.optional(bound(DEFAULT_FIND_ENTRIES, MAX_ANSWER_ENTRIES), DEFAULT_FIND_ENTRIES),
  // 0 stands for "not given": the host's budget is known only to the context.
  maxTraversalEntries: v.optional(bound(0), 0),
});

export const filesFind = defineTool('dirPath', FindSchema, find);

async function find(asked: v.InferOutput<typeof FindSchema>, context: ToolContext): Promise<ToolAnswer> {
  const dirPath = resolvePath(context, asked.dirPath);
  const { pattern } = asked;
  const isMatch = createGlob(pattern);
  const completeness = createCompleteness();
  const limit = createAnswerLimit();
  const paths: string[] = [];
  for await (const batch of walk(dirPath, findBounds(asked, context), completeness)) {
    for (const { path } of batch) {
      if (!isMatch(path)) continue;
      if (paths.length >= asked.maxEntries) {
        completeness.resultLimitReached(asked.maxEntries);
        return answer();
      }
      limit.add(path);
      paths.push(path);
    }
  }
  return answer();

  function answer(): ToolAnswer {
    return {
      fields: { dirPath, pattern, paths, ...completeness.fields() },
      warnings: completeness.warnings(),
    };
  }
}

/** The bounds of a walk for find and search: the request's budget, else the host's, else the contract's. */
export function findBounds(asked: { maxDepth: number; maxTraversalEntries: number }, context: ToolContext) {
  return {
    clock: context.clock,
    signal: context.signal,
    maxDepth: asked.maxDepth,
    canHang: createHangingMountTest(),
    maxEntries: asked.maxTraversalEntries || context.traversalEntries || DEFAULT_TRAVERSAL_ENTRIES,
  };
}
