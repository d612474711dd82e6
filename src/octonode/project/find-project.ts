// Where `.octonode` is: in a directory or the nearest one above it, on the same file system, as git finds its own.

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const PROJECT_FILE = '.octonode';

export type FoundProject =
  | { status: 'found'; path: string; directory: string }
  | { status: 'missing' }
  | { status: 'foreign'; path: string }
  /** `problem` completes the sentence `Project file … is …`. */
  | { status: 'unusable'; path: string; problem: string };

/**
 * The project of `start`. A file above `start` that belongs to another user (not to us, to root, or to the owner of
 * `start`) is `foreign`: a stranger's file in a shared directory must not decide what we run. What is in `start` itself and no
 * file that we may read is `unusable`; above it, such a thing (another program's directory in the home) is no project.
 */
export function findProject(start: string): FoundProject {
  const first = resolve(start);
  const origin = statSync(first, { throwIfNoEntry: false });
  for (let directory = first; ; directory = dirname(directory)) {
    const here = statSync(directory, { throwIfNoEntry: false });
    if (origin !== undefined && here?.dev !== origin.dev) return { status: 'missing' };
    const path = join(directory, PROJECT_FILE);
    const file = stateOf(path);
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
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return `not to be read (${errnoOf(error)})`;
  }
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
