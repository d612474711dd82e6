// The file a path really names once symlinks are followed, whether it exists or not: writes go to a link's target and
// leave the link. Refuses what cannot be replaced by a file.

import type { Stats } from 'node:fs';
import { access, constants, lstat, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { makeDirectory } from '../../support/make-directory.ts';
import { errnoError, errnoOf } from '../errno.ts';
import { requireRegular } from '../open-regular.ts';

/** The kernel's own limit (path_resolution(7)). */
const MAX_LINKS = 40;

/**
 * The path without symlinks. Missing directories on the way are made when `makeParents` is set (mode 0777 less the umask).
 * Throws `ENOENT`, `ENOTDIR`, `ELOOP`, or the errno of the call that failed.
 */
export async function resolveWritePath(path: string, makeParents: boolean): Promise<string> {
  let current = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const existing = await orMissing(realpath(current));
    if (existing !== undefined) return existing;
    if (makeParents) await makeDirectory(dirname(current));
    const here = join(await realpath(dirname(current)), basename(current));
    const target = await danglingTarget(here);
    if (target === undefined) return here;
    current = resolve(dirname(here), target);
  }
  throw errnoError('ELOOP', 'Too many symlinks on the way (ELOOP)');
}

/**
 * The state of the file to be replaced, undefined when there is none yet. Throws `EISDIR`, `not_a_regular_file`, and
 * `EACCES` or `EROFS` when a plain write would not be allowed either: a rename would not ask.
 */
export async function writableStats(path: string): Promise<Stats | undefined> {
  const stats = await orMissing(stat(path));
  if (stats === undefined) return undefined;
  requireRegular(stats);
  await access(path, constants.W_OK);
  return stats;
}

async function danglingTarget(path: string): Promise<string | undefined> {
  const stats = await orMissing(lstat(path));
  return stats?.isSymbolicLink() === true ? readlink(path) : undefined;
}

async function orMissing<Found>(looking: Promise<Found>): Promise<Found | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
