// The directory the journal's files lie in: made when it is missing, and swept of what a crash left half-made.
import { join } from 'node:path';
import { ignoreFailure, type JournalFs } from '../journal-fs.ts';
import { refusalOf } from './hopeless-path.ts';
import type { JournalPaths } from './journal-paths.ts';
import { refuseForeignFiles } from './refuse-foreign-files.ts';
import { refuseStateDirectoryFile } from './stray-logs.ts';

/** As src/support/file-lock.ts names them: nothing else of that look is ours. */
const HALF_LOCK = /\.(stale-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/**
 * Makes the directory 0700. One that exists keeps its mode; a state directory open to others is warned about. One that is not our
 * own is looked at before. Throws ConfigurationError when something foreign stands under a name that the journal needs, for a
 * file of a state directory, and for a
 * directory that cannot be made or entered because of its kind or its permissions, with the system's error as the cause.
 */
export async function prepareDirectory(
  options: { paths: JournalPaths; isOwn: boolean },
  deps: { files: JournalFs; warn: (message: string) => void },
): Promise<void> {
  try {
    await makeUsable(options, deps);
  } catch (error) {
    const kind = options.isOwn ? 'state directory' : 'the directory of the journal file,';
    throw refusalOf(error, `${kind} "${options.paths.directory}"`);
  }
}

async function makeUsable(
  options: { paths: JournalPaths; isOwn: boolean },
  deps: { files: JournalFs; warn: (message: string) => void },
): Promise<void> {
  const { directory } = options.paths;
  if (!options.isOwn) {
    await refuseForeignFiles(options.paths, deps.files);
    await refuseStateDirectoryFile(options.paths, deps.files);
  }
  await deps.files.makeDirectory(directory, 0o700);
  const mode = await deps.files.directoryMode(directory);
  if (!options.isOwn || (mode & 0o077) === 0) return;
  deps.warn(`State directory "${directory}" is open to others (mode 0${mode.toString(8)}); set it to 0700`);
}

/** Removes a folded file and lock files that never got their name. Only for the holder of the lock. */
export async function removeLeftovers(paths: JournalPaths, files: JournalFs): Promise<void> {
  for (const name of await files.list(paths.directory)) {
    const path = join(paths.directory, name);
    const isHalfLock = path.startsWith(`${paths.lock}.`) && HALF_LOCK.test(path);
    if (isHalfLock || path === paths.temporary) await ignoreFailure(files.unlink(path));
  }
}
