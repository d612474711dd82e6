// Makes a directory and those above it. Node's own recursive mkdir never ends where the kernel says ENOENT although the parent
// exists (/proc), and no timer can stop it. Promises an end after two steps for each part of the path, with a system error.

import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Nothing happens to a directory that exists; each that is made gets exactly `mode`, whatever the umask; without one it gets 0777
 * less the umask. Throws the error of the system, or one like it: `ENOTDIR` when something else is in the way, `ENOENT` where the system makes no directories.
 */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  if ((await makeOne(path, mode)) === 'made') return;
  const parent = dirname(path);
  if (parent !== path) await makeDirectory(parent, mode);
  if ((await makeOne(path, mode)) === 'made') return;
  throw systemError('ENOENT', `Cannot make directory "${path}": the system has none there (ENOENT)`);
}

async function makeOne(path: string, mode: number | undefined): Promise<'made' | 'no parent'> {
  try {
    await mkdir(path, mode);
    if (mode !== undefined) await setMode(path, mode);
    return 'made';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return 'no parent';
    if (code !== 'EEXIST') throw error;
  }
  if (await isDirectory(path)) return 'made';
  throw systemError(
    'ENOTDIR',
    `Cannot make directory "${path}": what exists there is something else (ENOTDIR)`,
  );
}

/** The umask took bits away; a group that the directory inherits (its setgid bit) stays. */
async function setMode(path: string, mode: number): Promise<void> {
  const current = (await stat(path)).mode & 0o7777;
  if ((current & 0o777) !== mode) await chmod(path, (current & 0o7000) | mode);
}

/** False for a link to nowhere. */
async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
