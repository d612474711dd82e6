// files_write: a file's whole content, new or over the old one, atomically. Parent directories are made.

import * as v from 'valibot';
import { argumentsObject, FileTextSchema, PathSchema, WorkspaceRootSchema } from './arguments.ts';
import { resolveFilePath } from './file-path.ts';
import { replaceFile, writeFully } from './replace/replace.ts';
import { resolveWritePath, writableStats } from './replace/write-target.ts';
import { defineTool, type ToolAnswer, type ToolContext } from './tool.ts';

/** Written in one go before a cancel is looked for again. */
const BLOCK_BYTES = 1024 * 1024;

const WriteSchema = argumentsObject({
  filePath: PathSchema,
  content: FileTextSchema,
  workspaceRoot: v.optional(WorkspaceRootSchema, null),
});

export const filesWrite = defineTool('filePath', WriteSchema, write);

async function write(asked: v.InferOutput<typeof WriteSchema>, context: ToolContext): Promise<ToolAnswer> {
  const { signal, writes } = context;
  const filePath = await resolveFilePath(context, asked.filePath, { isMade: true });
  const bytes = Buffer.from(asked.content);
  const path = await resolveWritePath(filePath, true);
  return writes.exclusive(path, signal, async () => {
    const before = await writableStats(path);
    const warnings = await replaceFile(writes, {
      path,
      before,
      signal,
      async fill(handle) {
        for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
          signal.throwIfAborted();
          await writeFully(handle, bytes.subarray(at, at + BLOCK_BYTES));
        }
      },
    });
    const fields = {
      filePath,
      workspaceRoot: asked.workspaceRoot,
      encoding: 'utf8',
      created: before === undefined,
      overwrote: before !== undefined,
      bytesWritten: bytes.length,
    };
    return { fields, warnings };
  });
}
