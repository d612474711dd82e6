// Why a process could not start. The system call gives one errno for a missing program, a missing interpreter and a bad
// working directory alike, so this looks at the file system afterwards and says which it was. Starts nothing, and names
// neither values of the environment nor arguments.

import { accessSync, closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { BurrowError } from '../protocol/errors.ts';

export interface FailedStart {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** As much of a script as the kernel looks at for its `#!` line (execve(2)). */
const SCRIPT_HEAD_BYTES = 256;

/** Errnos that a bad working directory can cause. */
const PATH_ERRNOS: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG']);

const MEANINGS: Readonly<Record<string, string>> = {
  EAGAIN: 'the limit of processes is reached',
  EMFILE: 'the gateway has too many open files',
  ENFILE: 'the host has too many open files',
  ENOMEM: 'the host is out of memory',
  EINVAL: 'an argument or a variable is not acceptable to the system',
  ENOEXEC: 'it is not a program of this machine',
  ETXTBSY: 'it is being written to',
  ELOOP: 'its path has too many symbolic links',
  ENOTDIR: 'a part of its path is not a directory',
  ENAMETOOLONG: 'its path is too long',
};

/** `cwd_invalid` when the working directory is the cause, else `spawn_failed`; both with `errno`. */
export function diagnoseFailedStart(start: FailedStart, errno: string): BurrowError {
  const cwdProblem = PATH_ERRNOS.has(errno) ? describeBadDirectory(start.cwd) : undefined;
  if (cwdProblem !== undefined) {
    const message = `Cannot enter working directory ${JSON.stringify(start.cwd)}: ${cwdProblem.reason} (${cwdProblem.errno})`;
    return new BurrowError('cwd_invalid', { message, errno: cwdProblem.errno, cwd: start.cwd });
  }
  const message = `Cannot start ${JSON.stringify(start.file)}: ${describeBadProgram(start, errno)} (${errno})`;
  return new BurrowError('spawn_failed', {
    message,
    errno,
    lookedFor: start.file,
    searchedPath: !start.file.includes('/'),
  });
}

function describeBadDirectory(cwd: string): { errno: string; reason: string } | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return { errno: 'ENOTDIR', reason: 'it is not a directory' };
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return { errno, reason: 'it does not exist' };
    if (errno === 'EACCES') return { errno, reason: 'the gateway may not enter it' };
    return {
      errno,
      reason: errno === 'ENOTDIR' ? 'a part of it is not a directory' : 'it cannot be reached',
    };
  }
}

function describeBadProgram(start: FailedStart, errno: string): string {
  if (errno === 'E2BIG') return describeSize(start);
  if (errno === 'ENOENT') return describeMissing(start);
  if (errno === 'EACCES') return describeForbidden(start);
  return MEANINGS[errno] ?? 'the system refused';
}

function describeSize({ args, env }: FailedStart): string {
  const argumentBytes = args.map((value) => Buffer.byteLength(value));
  const variableBytes = Object.entries(env).map(
    ([name, value]) => Buffer.byteLength(name) + Buffer.byteLength(value) + 1,
  );
  const total = (sizes: number[]): number => sizes.reduce((sum, size) => sum + size, 0);
  const longest = argumentBytes.concat(variableBytes).reduce((most, size) => Math.max(most, size), 0);
  return (
    `its arguments hold ${total(argumentBytes)} bytes and its environment ${total(variableBytes)}, ` +
    `the longest single one ${longest}`
  );
}

function describeMissing(start: FailedStart): string {
  const found = findProgram(start);
  if (found === undefined) {
    return start.file.includes('/') ? 'it does not exist' : 'it is in none of the directories of PATH';
  }
  const interpreter = readInterpreter(found.path);
  const named =
    interpreter === undefined
      ? 'the loader it was linked for'
      : `its interpreter ${JSON.stringify(interpreter)}`;
  return `${JSON.stringify(found.path)} exists, but ${named} does not`;
}

function describeForbidden(start: FailedStart): string {
  const found = findProgram(start);
  if (found === undefined) return 'a directory on the way to it may not be entered';
  const what = found.stats.isDirectory() ? 'is a directory' : 'may not be executed by the gateway';
  return `${JSON.stringify(found.path)} ${what}`;
}

/** The file that execvp(3) would have taken: relative to the working directory, or the first of that name on PATH. */
function findProgram({ file, cwd, env }: FailedStart): { path: string; stats: Stats } | undefined {
  const directories = file.includes('/') ? ['.'] : (env.PATH ?? '/bin:/usr/bin').split(delimiter);
  for (const directory of directories) {
    const path = resolve(cwd, directory, file);
    try {
      return { path, stats: statSync(path) };
    } catch {
      // Not here; the next directory may have it.
    }
  }
  return undefined;
}

function readInterpreter(path: string): string | undefined {
  const head = Buffer.alloc(SCRIPT_HEAD_BYTES);
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // A program may be executable without being readable; then nothing more can be said about it.
    return undefined;
  }
  try {
    const text = head.toString('latin1', 0, readSync(fd, head));
    return /^#![ \t]*([^ \t\n]+)/.exec(text)?.[1];
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'EIO';
}
