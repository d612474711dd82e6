// Where `.octonode` is: in a directory or the nearest one above it, on the same file system, as git finds its own.

import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const PROJECT_FILE = '.octonode';

export type FoundProject =
  | { status: 'found'; path: string; directory: string }
  | { status: 'missing' }
  | { status: 'foreign'; path: string };

/**
 * The project of `start`. A file above `start` that belongs to another user (not to us, to root, or to the owner of
 * `start`) is `foreign`: a stranger's file in a shared directory must not decide what we run.
 */
export function findProject(start: string): FoundProject {
  const first = resolve(start);
  const origin = statSync(first, { throwIfNoEntry: false });
  for (let directory = first; ; directory = dirname(directory)) {
    const here = statSync(directory, { throwIfNoEntry: false });
    if (origin !== undefined && here?.dev !== origin.dev) return { status: 'missing' };
    const path = join(directory, PROJECT_FILE);
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isFile() === true) {
      const trusted = [process.geteuid?.(), 0, origin?.uid];
      const isOurs = directory === first || trusted.includes(file.uid);
      return isOurs ? { status: 'found', path, directory } : { status: 'foreign', path };
    }
    if (dirname(directory) === directory) return { status: 'missing' };
  }
}
