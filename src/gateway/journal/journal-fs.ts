// The file calls the journal makes, and nothing else: handed in, so that a test can let any of them fail or stop.
// The real ones run in Node's thread pool; only linkCount() is synchronous.
import fs from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../../support/make-directory.ts';

export type FileKind = 'missing' | 'file' | 'directory' | 'FIFO' | 'device' | 'socket' | 'link to nowhere';

export interface FileFacts {
  isFile: boolean;
  sizeBytes: number;
  /** Permission bits. */
  mode: number;
}

/** Every call fails with a Node.js system error that carries `code`. Files are named by descriptor once open. */
export interface JournalFs {
  open(path: string, flags: number, mode: number): Promise<number>;
  close(fd: number): Promise<void>;
  /** Bytes read into `buffer` from `position`; 0 at the end of the file. */
  read(fd: number, buffer: Buffer, position: number): Promise<number>;
  /** Bytes written at `position`; may be fewer than given. */
  write(fd: number, buffer: Buffer, position: number): Promise<number>;
  sync(fd: number): Promise<void>;
  truncate(fd: number, sizeBytes: number): Promise<void>;
  chmod(fd: number, mode: number): Promise<void>;
  facts(fd: number): Promise<FileFacts>;
  /** Names that lead to the open file; 0 once it was removed. Synchronous: about 1 µs, a thread-pool trip costs 30. */
  linkCount(fd: number): number;
  /** Of what the path leads to, links followed; opens nothing. */
  kindOf(path: string): Promise<FileKind>;
  /** The file that a link leads to, whole path; the path itself when it is no link, or one that leads to nothing. */
  followLink(path: string): Promise<string>;
  /** Permission bits. Enters the directory for them, so it fails for one that may not be entered or is none. */
  directoryMode(path: string): Promise<number>;
  /** Creates the directory and its missing parents; one that exists is left as it is. */
  makeDirectory(path: string, mode: number): Promise<void>;
  list(path: string): Promise<string[]>;
  /** Whole text of a small file. */
  readText(path: string): Promise<string>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Makes names created, renamed or removed in the directory that holds `path` survive a power cut. */
  syncDirectoryOf(path: string): Promise<void>;
}

export const systemJournalFs: JournalFs = {
  open: (path, flags, mode) => settle<number>((done) => fs.open(path, flags, mode, done)),
  close: (fd) => settle<void>((done) => fs.close(fd, done)),
  read: (fd, buffer, position) =>
    settle<number>((done) => fs.read(fd, buffer, 0, buffer.length, position, done)),
  write: (fd, buffer, position) =>
    settle<number>((done) => fs.write(fd, buffer, 0, buffer.length, position, done)),
  sync: (fd) => settle<void>((done) => fs.fsync(fd, done)),
  truncate: (fd, sizeBytes) => settle<void>((done) => fs.ftruncate(fd, sizeBytes, done)),
  chmod: (fd, mode) => settle<void>((done) => fs.fchmod(fd, mode, done)),
  facts: async (fd) => {
    const stats = await settle<fs.Stats>((done) => fs.fstat(fd, done));
    return { isFile: stats.isFile(), sizeBytes: stats.size, mode: stats.mode & 0o777 };
  },
  linkCount: (fd) => fs.fstatSync(fd).nlink,
  kindOf: async (path) => {
    const stats = await statOrMissing(fs.promises.stat(path));
    if (stats !== undefined) return kindIn(stats);
    return (await statOrMissing(fs.promises.lstat(path))) === undefined ? 'missing' : 'link to nowhere';
  },
  followLink: async (path) => {
    const stats = await statOrMissing(fs.promises.lstat(path));
    if (stats === undefined || !stats.isSymbolicLink()) return path;
    try {
      return await fs.promises.realpath(path);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ELOOP') return path;
      throw error;
    }
  },
  directoryMode: async (path) => (await fs.promises.stat(`${path}/.`)).mode & 0o777,
  makeDirectory,
  list: (path) => fs.promises.readdir(path),
  readText: (path) => fs.promises.readFile(path, 'utf8'),
  link: (from, to) => fs.promises.link(from, to),
  rename: (from, to) => fs.promises.rename(from, to),
  unlink: (path) => fs.promises.unlink(path),
  syncDirectoryOf: async (path) => {
    const directory = await fs.promises.open(dirname(path), 'r');
    await directory.sync().finally(() => directory.close());
  },
};

/** Writes all of `buffer`; throws what the file system threw, with an unknown part of it written. */
export async function writeFully(
  files: JournalFs,
  fd: number,
  buffer: Buffer,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < buffer.length) {
    written += await files.write(fd, buffer.subarray(written), position + written);
  }
}

/** `ENOSPC` and the like; undefined for anything that is not a system error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Runs a removal or a clean-up whose failure changes nothing: what stays behind is looked at again at the next start. */
export async function ignoreFailure(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch {
    // Left behind on purpose; see above.
  }
}

async function statOrMissing(asked: Promise<fs.Stats>): Promise<fs.Stats | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function kindIn(stats: fs.Stats): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isFIFO()) return 'FIFO';
  return stats.isSocket() ? 'socket' : 'device';
}

function settle<Result>(
  start: (done: (error: Error | null, result?: Result) => void) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    start((error, result) => {
      if (error !== null) reject(error);
      else resolve(result as Result); // Node hands a result over whenever there is no error.
    });
  });
}
