// Which file a path of the arguments means. A path that ends in a slash (or `/.`) names a directory, as for the system
// itself: resolving alone would take the slash away and let a file be written under a name that was meant for a directory.

import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errnoError, errnoOf } from './errno.ts';
import { resolvePath, type ToolContext } from './tool.ts';

/**
 * The absolute path of a file to be read or written. Throws `ENOTDIR` for a name of a directory where something else is, and
 * with `isMade`, `EISDIR` where nothing is. A directory is found by whoever opens it.
 */
export async function resolveFilePath(
  context: ToolContext,
  given: string,
  { isMade }: { isMade: boolean },
): Promise<string> {
  const path = resolvePath(context, given);
  if (!namesDirectory(given)) return path;
  const stats = await statsOrMissing(path);
  if (stats === undefined && isMade)
    throw errnoError(
      'EISDIR',
      'A path that ends in a slash names a directory; give the path of a file (EISDIR)',
    );
  if (stats !== undefined && !stats.isDirectory())
    throw errnoError('ENOTDIR', 'A path that ends in a slash names a directory, and this is none (ENOTDIR)');
  return path;
}

export function namesDirectory(given: string): boolean {
  return given.endsWith('/') || given.endsWith('/.');
}

async function statsOrMissing(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
