// Replaces a file as a whole: whoever looks finds the old content or the new, never a part, whatever fails and whenever.
// The new content is written beside the file, flushed, given the old owner and mode, and renamed over it.
//
// Rules for what a file is beside its content:
// - Mode and owner stay. Until it is complete the new file is open to its writer alone, so it is never wider than before.
// - An owner or group that may not be given (an ordinary user replaces another's file) becomes the writer's, with a
//   warning; then the bits setuid, setgid and sticky go, and a new group gets no more than everyone else had.
// - Other hard links keep the old content, with a warning. Access lists and extended attributes are not carried over:
//   Node.js cannot read them.
// - A new file gets the mode 0666 less the umask, or what the directory's default access list says.

import type { Stats } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { errnoOf } from '../errno.ts';
import { untilAborted } from '../until-aborted.ts';
import { createFileLocks, type FileLocks } from './file-locks.ts';
import { createTemporaryFiles, type TemporaryFiles } from './temporary-files.ts';

const PRIVATE_MODE = 0o600;
const NEW_FILE_MODE = 0o666;

/** What all writes of one daemon share. */
export interface FileWrites extends FileLocks, TemporaryFiles {}

/**
 * `recordsDirectory` is where temporary files are put on record (temporary-files.ts): the daemon's state directory, else
 * the system's directory for temporary files. Call `sweep()` once at start.
 */
export function createFileWrites(options: { recordsDirectory?: string } = {}): FileWrites {
  return { ...createFileLocks(), ...createTemporaryFiles(options.recordsDirectory ?? tmpdir()) };
}

interface Replacement {
  /** Without symlinks (write-target.ts). */
  path: string;
  /** The state of the file replaced; undefined for a new file. */
  before: Stats | undefined;
  signal: AbortSignal;
  /** Writes the new content from its beginning. */
  fill(handle: FileHandle): Promise<void>;
  /** Called last before the rename; throws to leave the old file in place. */
  confirm?(): Promise<void>;
}

/** Resolves to warnings once the new content is on disk. On any failure or abort the old file is whole and nothing is left. */
export async function replaceFile(files: TemporaryFiles, replacement: Replacement): Promise<string[]> {
  const { path, before, signal } = replacement;
  signal.throwIfAborted();
  const temporary = await files.create(dirname(path), before === undefined ? NEW_FILE_MODE : PRIVATE_MODE);
  const warnings: string[] = [];
  try {
    await replacement.fill(temporary.handle);
    if (before !== undefined) warnings.push(...(await keepOwnerAndMode(temporary.handle, before)));
    // Flushing takes as long as the disk does; until the rename nothing has happened that a cancel must wait for.
    await untilAborted(temporary.handle.sync(), signal);
    await temporary.handle.close();
    await replacement.confirm?.();
    signal.throwIfAborted();
    await rename(temporary.path, path);
  } catch (error) {
    await temporary.discard({ waitForClose: !signal.aborted });
    throw error;
  }
  await temporary.forget();
  return [...warnings, ...(await syncDirectory(dirname(path)))];
}

/** Writes all bytes at the handle's position; a short write goes on where it stopped. */
export async function writeFully(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten;
  }
}

async function keepOwnerAndMode(handle: FileHandle, before: Stats): Promise<string[]> {
  const warnings: string[] = [];
  if (before.nlink > 1) {
    warnings.push(`File had ${before.nlink} hard links: the other names keep the old content`);
  }
  await giveOwner(handle, before);
  const now = await handle.stat();
  let mode = before.mode & 0o7777;
  if (now.uid !== before.uid || now.gid !== before.gid) {
    warnings.push(
      `Owner ${before.uid}:${before.gid} could not be kept: the file now belongs to ${now.uid}:${now.gid}`,
    );
    mode &= 0o777;
  }
  if (now.gid !== before.gid) mode &= ~0o070 | ((mode & 0o007) << 3);
  // After the owner: a change of owner takes the setuid bit away.
  await handle.chmod(mode);
  return warnings;
}

/** Both ids where that is allowed, else at least the group: a user may give a file to any group of their own. */
async function giveOwner(handle: FileHandle, before: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid === before.uid && now.gid === before.gid) return;
  try {
    await handle.chown(before.uid, before.gid);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    // Not being allowed is no failure here: the caller looks at what the file has now.
    await handle.chown(now.uid, before.gid).catch(() => undefined);
  }
}

/** Makes the rename itself last. The file is in place already, so a failure is only worth a warning. */
async function syncDirectory(path: string): Promise<string[]> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    return [];
  } catch (error) {
    // A directory that may be written but not read cannot be opened for this; that is a right of its own, not a fault.
    if (errnoOf(error) === 'EACCES' || errnoOf(error) === 'EINVAL') return [];
    return [
      `Directory could not be flushed (${errnoOf(error) ?? 'unknown'}): a power cut now may undo the write`,
    ];
  }
}
