// The names of the journal's files. All lie in one directory; every one is 0600.
import { dirname, join } from 'node:path';
import type { JournalFs } from '../journal-fs.ts';
import { refusalOf } from './hopeless-path.ts';

export type DiskLocation = { kind: 'directory'; path: string } | { kind: 'file'; path: string };

export interface JournalPaths {
  /** As it was named: for what a person is told. */
  name: string;
  directory: string;
  /** The folded file: all that was live at the last fold. */
  folded: string;
  /** One line per outcome since then. */
  log: string;
  /** The log before it, while a fold takes it in. */
  oldLog: string;
  lock: string;
  /** The next folded file while it is being written. */
  temporary: string;
  /** Begins the names that log and lock have when the same journal is named in another way. */
  otherStem: string | undefined;
}

/**
 * `operations.json`, `operations.log` … in a state directory; `F`, `F.log` … for an explicit file F. When F is a link: beside
 * `realFile`, which it leads to.
 */
export function pathsOf(location: DiskLocation, realFile = location.path): JournalPaths {
  const isFile = location.kind === 'file';
  const folded = isFile ? realFile : join(location.path, 'operations.json');
  const stem = isFile ? realFile : join(location.path, 'operations');
  const otherStem = isFile ? location.path : folded;
  return {
    name: location.path,
    directory: dirname(folded),
    folded,
    log: `${stem}.log`,
    oldLog: `${stem}.log.old`,
    lock: `${stem}.lock`,
    temporary: `${folded}.tmp`,
    otherStem: otherStem === stem ? undefined : otherStem,
  };
}

/** Follows an explicit file that is a link: a fold replaces the file it leads to, and not the link. */
export async function locateJournal(location: DiskLocation, files: JournalFs): Promise<JournalPaths> {
  if (location.kind === 'directory') return pathsOf(location);
  try {
    return pathsOf(location, await files.followLink(location.path));
  } catch (error) {
    throw refusalOf(error, `the directory that journal file "${location.path}" leads to`);
  }
}
