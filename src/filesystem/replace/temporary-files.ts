// The temporary files of atomic writes, and how none outlives a killed daemon. Before a temporary file is made, a record
// of it is put down: a symlink named after this process whose target is the file's path. A symlink costs one system call,
// needs no data block (it works on a full disk and under `ulimit -f 0`), and is whole or absent. `sweep` at the next start
// removes what the records of ended processes name. A record that cannot be put down stops no write: then only a kill
// within that write would leave its file behind, recognisable as `.burrow-<16 hex>.tmp`.

import { randomBytes } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, symlink, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errnoOf } from '../errno.ts';

const RECORD_NAME = /^burrow-write-(\d+)-(\d+)-([0-9a-f]{16})$/;
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

interface TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** After the rename: only the record is left to remove. */
  forget(): Promise<void>;
  /**
   * Removes the file and its record, and closes the handle; never rejects. Does not wait for the closing when told so: it
   * waits itself for what still runs on the handle.
   */
  discard(options: { waitForClose: boolean }): Promise<void>;
}

export interface TemporaryFiles {
  /** A new empty file in `directory`, opened for writing. Throws the errno of the open. */
  create(directory: string, mode: number): Promise<TemporaryFile>;
  /** Removes the temporary files of processes that have ended; resolves to how many. Never rejects. */
  sweep(): Promise<number>;
}

/**
 * Records live in `recordsDirectory`, which may be shared with other processes and may be world-writable and sticky like
 * /tmp: only records of our own user count.
 */
export function createTemporaryFiles(recordsDirectory: string): TemporaryFiles {
  let owner: string | undefined;

  return {
    async create(directory, mode) {
      owner ??= `${process.pid}-${processStart(process.pid) ?? '0'}`;
      const id = randomBytes(8).toString('hex');
      const path = join(directory, `.burrow-${id}.tmp`);
      const record = join(recordsDirectory, `burrow-write-${owner}-${id}`);
      // Not fatal, see above.
      await symlink(path, record).catch(() => undefined);
      const forget = (): Promise<void> => unlink(record).catch(() => undefined);
      try {
        const handle = await open(path, CREATE_FLAGS, mode);
        return {
          path,
          handle,
          forget,
          async discard({ waitForClose }) {
            // A file that is gone already is what was wanted.
            await unlink(path).catch(() => undefined);
            await forget();
            // Closing twice is no fault here.
            const closed = handle.close().catch(() => undefined);
            if (waitForClose) await closed;
          },
        };
      } catch (error) {
        await forget();
        throw error;
      }
    },
    async sweep() {
      const names = await readdir(recordsDirectory).catch(() => []);
      let removed = 0;
      for (const name of names) {
        // What cannot be removed now keeps its record and is tried again at the next start.
        removed += await sweepRecord(recordsDirectory, name).catch(() => 0);
      }
      return removed;
    },
  };
}

async function sweepRecord(recordsDirectory: string, name: string): Promise<number> {
  const [, pid, start, id] = RECORD_NAME.exec(name) ?? [];
  if (pid === undefined || processStart(Number(pid)) === start) return 0;
  const record = join(recordsDirectory, name);
  const stats = await lstat(record);
  if (!stats.isSymbolicLink() || stats.uid !== process.geteuid?.()) return 0;
  const path = await readlink(record);
  if (basename(path) !== `.burrow-${id}.tmp`) return 0;
  const removed = await removeTemporary(path);
  await unlink(record);
  return removed;
}

async function removeTemporary(path: string): Promise<number> {
  try {
    await unlink(path);
    return 1;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return 0;
    throw error;
  }
}

/** When a process started, in the kernel's ticks: with the pid it names one process. Undefined when there is none. */
function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, field 2, may hold blanks and brackets; the start is field 22 (proc_pid_stat(5)).
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    // The process has ended, or there is no /proc.
    return undefined;
  }
}
