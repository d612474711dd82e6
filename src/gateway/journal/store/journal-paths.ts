// The names of the journal's files. All lie in one directory; every one is 0600.
import { dirname, join } from 'node:path';

export type DiskLocation = { kind: 'directory'; path: string } | { kind: 'file'; path: string };

export interface JournalPaths {
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
}

/** `operations.json`, `operations.log` … in a state directory; `F`, `F.log` … for an explicit file F. */
export function pathsOf(location: DiskLocation): JournalPaths {
  const folded = location.kind === 'file' ? location.path : join(location.path, 'operations.json');
  const stem = location.kind === 'file' ? location.path : join(location.path, 'operations');
  return {
    directory: dirname(folded),
    folded,
    log: `${stem}.log`,
    oldLog: `${stem}.log.old`,
    lock: `${stem}.lock`,
    temporary: `${folded}.tmp`,
  };
}
