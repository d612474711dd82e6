// files_inspect: what a path is, without opening it and without following it. A missing path is an answer, not a failure.

import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import type * as v from 'valibot';
import { argumentsObject, PathSchema } from './arguments.ts';
import { errnoOf } from './errno.ts';
import { namesDirectory } from './file-path.ts';
import { defineTool, resolvePath, type ToolAnswer, type ToolContext } from './tool.ts';

const InspectSchema = argumentsObject({ path: PathSchema });

export const filesInspect = defineTool('path', InspectSchema, inspect);

async function inspect(
  asked: v.InferOutput<typeof InspectSchema>,
  context: ToolContext,
): Promise<ToolAnswer> {
  const path = resolvePath(context, asked.path);
  // With its slash the system follows a link to a directory, and refuses a file (ENOTDIR).
  const stats = await statsOrMissing(namesDirectory(asked.path) ? `${path}/` : path);
  if (stats === undefined) {
    const absent = { path, exists: false, type: null, size: null, modifiedAt: null, symlinkTarget: null };
    return { fields: absent, warnings: [] };
  }
  const fields = {
    path,
    exists: true,
    type: typeOf(stats),
    size: stats.size,
    modifiedAt: stats.mtime.toISOString(),
    symlinkTarget: stats.isSymbolicLink() ? await readlink(path) : null,
  };
  return { fields, warnings: [] };
}

async function statsOrMissing(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function typeOf(stats: Stats): 'file' | 'directory' | 'symlink' | 'other' {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'other';
}
