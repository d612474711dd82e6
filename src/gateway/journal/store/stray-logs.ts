// The same journal can be named in two ways, and its log and lock then have other names: an earlier version kept them beside a
// link and not beside the file it leads to; and what `--state-dir D` keeps in D/operations.log, `--journal-file D/operations.json`
// keeps in D/operations.json.log. Promises that one file never has two owners, and that what a crash left there is found.
import { basename } from 'node:path';
import { ConfigurationError } from '../../../support/configuration-error.ts';
import { FileLock } from '../../../support/file-lock.ts';
import { ignoreFailure, type JournalFs } from '../journal-fs.ts';
import { type JournalPaths, pathsOf } from './journal-paths.ts';
import { RECORD_START } from './record-line.ts';
import { beginsWith, LOCK_START } from './refuse-foreign-files.ts';

/**
 * Logs with records of ours under the other names, oldest first. Throws ConfigurationError when a running process has the journal
 * under them; the lock of one that is gone is removed.
 */
export async function findStrayLogs(paths: JournalPaths, files: JournalFs): Promise<string[]> {
  const stem = paths.otherStem;
  if (stem === undefined) return [];
  const lock = `${stem}.lock`;
  if (await beginsWith(lock, LOCK_START, files)) {
    const pid = await new FileLock(lock, files).holder();
    if (pid !== undefined) {
      throw new ConfigurationError(
        `Journal "${paths.folded}" is in use by process ${pid}, which names it "${stem}": end that one, or name another`,
      );
    }
    await ignoreFailure(files.unlink(lock));
  }
  const strayLogs: string[] = [];
  for (const log of [`${stem}.log.old`, `${stem}.log`]) {
    if (await beginsWith(log, RECORD_START, files)) strayLogs.push(log);
  }
  return strayLogs;
}

/** Throws ConfigurationError when the explicit file is the operations.json of a state directory in use, or left by a crash. */
export async function refuseStateDirectoryFile(paths: JournalPaths, files: JournalFs): Promise<void> {
  const { directory } = paths;
  const own = pathsOf({ kind: 'directory', path: directory });
  if (basename(own.folded) !== basename(paths.folded)) return;
  const signs = [
    { path: own.lock, start: LOCK_START },
    { path: own.log, start: RECORD_START },
    { path: own.oldLog, start: RECORD_START },
  ];
  for (const { path, start } of signs) {
    if (!(await beginsWith(path, start, files))) continue;
    throw new ConfigurationError(
      `Journal file "${paths.name}" is part of state directory "${directory}", as "${path}" shows: use --state-dir "${directory}"`,
    );
  }
}
