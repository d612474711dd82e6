// Opens a file for reading and refuses everything that is not a regular file, in milliseconds: a FIFO without a writer
// would block for ever, and merely opening some devices acts on them (a watchdog starts, a tape rewinds).

import { closeSync, constants, fstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { type FileHandle, open, stat, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { BurrowError } from '../protocol/errors.ts';
import { errnoError } from './errno.ts';

/** statfs(2): the type of /proc. */
const PROC_SUPER_MAGIC = 0x9fa0;
/** Files of /proc that call themselves regular but are memory, or block until the kernel has news. */
const PROC_DEVICES: ReadonlySet<string> = new Set([
  'mem',
  'kcore',
  'kmsg',
  'pagemap',
  'kpagecgroup',
  'kpagecount',
  'kpageflags',
]);

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

/**
 * The open file and its state; symlinks are followed. The caller closes the handle.
 * Throws `EISDIR`, `not_a_regular_file`, or the errno of the system call that failed.
 */
export async function openRegular(path: string): Promise<OpenFile> {
  requireRegular(await stat(path));
  // The path may name something else by now: the open must not block, and the handle itself is looked at again.
  const handle = await open(path, OPEN_FLAGS);
  try {
    const stats = await handle.stat();
    requireRegular(stats);
    await refuseProcDevice(handle.fd);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Runs `use` on the open file with synchronous calls, which cost a tenth of as many hops to the thread pool. Undefined when
 * the file is not known to lie on a disk: a file server or a program behind the mount could keep the daemon waiting.
 * Throws what openRegular throws.
 */
export async function useRegularOnDisk<Result>(
  path: string,
  use: (fd: number, stats: Stats) => Result,
): Promise<Result | undefined> {
  const found = await stat(path);
  requireRegular(found);
  if (!isOnDisk(found)) return undefined;
  const fd = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(fd);
    requireRegular(stats);
    return isOnDisk(stats) ? use(fd, stats) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** File systems without a disk of their own (network, FUSE, /proc, but tmpfs too) have a device with the major number 0. */
function isOnDisk(stats: Stats): boolean {
  return (Math.floor(stats.dev / 0x100) & 0xfff) !== 0;
}

/** Throws `EISDIR` for a directory and `not_a_regular_file` for a FIFO, a device or a socket. */
export function requireRegular(stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw errnoError('EISDIR', 'It is a directory; give the path of a file (EISDIR)');
  const kind = stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : 'a device';
  throw new BurrowError('not_a_regular_file', { message: `Path is ${kind}, not a regular file` });
}

async function refuseProcDevice(fd: number): Promise<void> {
  const opened = `/proc/self/fd/${fd}`;
  // Answered from the kernel's own memory: no reason for a hop to the thread pool.
  if (!PROC_DEVICES.has(basename(readlinkSync(opened)))) return;
  if ((await statfs(opened)).type !== PROC_SUPER_MAGIC) return;
  throw new BurrowError('not_a_regular_file', {
    message: 'Path is memory of the system, not a regular file',
  });
}
