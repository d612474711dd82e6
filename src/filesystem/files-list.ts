// files_list: the entries of a tree with their types, directories before their content.

import * as v from 'valibot';
import { createAnswerLimit, MAX_ANSWER_ENTRIES } from './answer-limit.ts';
import { argumentsObject, bound, PathSchema } from './arguments.ts';
import { createHangingMountTest } from './hanging-mounts.ts';
import { defineTool, resolvePath, type ToolAnswer, type ToolContext } from './tool.ts';
import { createCompleteness } from './walk/completeness.ts';
import type { EntryType } from './walk/read-directory.ts';
import { walk } from './walk/walk.ts';

const DEFAULT_LIST_DEPTH = 4;
const DEFAULT_LIST_ENTRIES = 500;

const ListSchema = argumentsObject({
  dirPath: PathSchema,
  maxDepth: v.optional(bound(DEFAULT_LIST_DEPTH), DEFAULT_LIST_DEPTH),
  maxEntries: v.optional(bound(DEFAULT_LIST_ENTRIES, MAX_ANSWER_ENTRIES), DEFAULT_LIST_ENTRIES),
});

export const filesList = defineTool('dirPath', ListSchema, list);

async function list(asked: v.InferOutput<typeof ListSchema>, context: ToolContext): Promise<ToolAnswer> {
  const dirPath = resolvePath(context, asked.dirPath);
  const completeness = createCompleteness();
  const limit = createAnswerLimit();
  const entries: { path: string; type: EntryType }[] = [];
  const { clock, signal } = context;
  const { maxDepth, maxEntries } = asked;
  const options = { clock, signal, maxDepth, maxEntries, canHang: createHangingMountTest() };
  for await (const batch of walk(dirPath, options, completeness)) {
    for (const { path, type } of batch) {
      limit.add(path);
      entries.push({ path, type });
    }
  }
  return { fields: { dirPath, entries, ...completeness.fields() }, warnings: completeness.warnings() };
}
