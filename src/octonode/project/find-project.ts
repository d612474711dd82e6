// Where `.octonode` is: in a directory or the nearest one above it, on the same file system, as git finds its own.

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const PROJECT_FILE = '.octonode';

export type FoundProject =
  | { status: 'found'; path: string; directory: string }
  | { status: 'missing' }
  | { status: 'foreign'; path: string }
  /** The directory itself cannot be looked into; `problem` is the errno. */
  | { status: 'closed'; path: string; problem: string }
  /** `problem` completes the sentence `Project file … is …`. */
  | { status: 'unusable'; path: string; problem: string };

/**
 * The project of `start`. A file above `start` that belongs to another user (not to us, to root, or to the owner of
 * `start`) is `foreign`: a stranger's file in a shared directory must not decide what we run. A `start` that we are not let into
 * is `closed`. What is in `start` itself and no file that we may read is `unusable`; above it, such a thing (another program's
 * directory in the home) is no project.
 */
export function findProject(start: string): FoundProject {
  const first = resolve(start);
  const origin = stateOf(first);
  if (typeof origin === 'string') return { status: 'closed', path: first, problem: origin };
  for (let directory = first; ; directory = dirname(directory)) {
    const here = stateOf(directory);
    if (origin !== undefined && (typeof here !== 'object' || here.dev !== origin.dev))
      return { status: 'missing' };
    const path = join(directory, PROJECT_FILE);
    const file = stateOf(path);
    // Whether it is there cannot be told. With a directory that we may enter, it is a link to where we may not.
    if (directory === first && file === 'EACCES' && refusalOf(first, constants.X_OK) !== undefined)
      return { status: 'closed', path: first, problem: file };
    const problem = directory === first ? problemOf(path, file) : undefined;
    if (problem !== undefined) return { status: 'unusable', path, problem };
    if (typeof file === 'object' && file.isFile()) {
      const trusted = [process.geteuid?.(), 0, origin?.uid];
      const isOurs = directory === first || trusted.includes(file.uid);
      return isOurs ? { status: 'found', path, directory } : { status: 'foreign', path };
    }
    if (dirname(directory) === directory) return { status: 'missing' };
  }
}

/** Undefined when there is nothing; a text when the system does not say what there is. */
function stateOf(path: string): Stats | string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return errnoOf(error);
  }
}

function problemOf(path: string, file: Stats | string | undefined): string | undefined {
  if (file === undefined) return undefined;
  if (typeof file === 'string') return `not to be read (${file})`;
  if (file.isDirectory()) return 'a directory, not a file';
  if (!file.isFile()) return 'not a regular file';
  const errno = refusalOf(path, constants.R_OK);
  return errno === undefined ? undefined : `not to be read (${errno})`;
}

/** The errno when `path` may not be used like that. */
function refusalOf(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return errnoOf(error);
  }
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
