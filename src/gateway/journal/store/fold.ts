// A fold: what is live becomes the new operations.json, then the logs it was taken from go away. A crash between any two
// of these steps leaves some records twice, never none: the next start reads them in the same order again.
import type { Clock } from '../../../support/clock.ts';
import type { Entry, EntryIndex } from '../entry-index.ts';
import { errnoOf, type JournalFs } from '../journal-fs.ts';
import type { Segment } from '../segment.ts';
import { type FoldedFile, writeFolded } from './folded-file.ts';
import type { JournalPaths } from './journal-paths.ts';
import { setAside } from './set-aside.ts';

export interface Fold {
  entries: Entry[];
  /** Logs that hold nothing but what is folded here, oldest first. */
  foldedLogs: string[];
  /** Files to be set aside rather than removed; those that were are taken out. */
  damagedPaths: Set<string>;
}

export interface FoldDeps {
  files: JournalFs;
  clock: Clock;
  paths: JournalPaths;
  index: EntryIndex;
  warn: (message: string) => void;
  /** Takes charge of the new file's descriptor. */
  adopt: (segment: Segment) => void;
}

/** Throws what the file system throws; every entry can then still be read where it was. */
export async function foldEntries(fold: Fold, deps: FoldDeps): Promise<void> {
  const { files, paths } = deps;
  const wallMs = deps.clock.wallMs();
  const beforeReplace = async (): Promise<void> => {
    if (fold.damagedPaths.has(paths.folded)) await setAside(files, paths.folded, { wallMs, keepName: true });
  };
  const folded = await writeFolded(fold.entries, { ...deps, beforeReplace });
  deps.adopt(folded.segment);
  fold.damagedPaths.delete(paths.folded);
  moveEntries(fold.entries, folded, deps);
  // A log that outlived a newer one would win over it at the next start, so the first failure ends this.
  for (const path of fold.foldedLogs) {
    await removeLog(path, { files, wallMs, isDamaged: fold.damagedPaths.has(path) });
    fold.damagedPaths.delete(path);
  }
}

function moveEntries(entries: Entry[], folded: FoldedFile, deps: FoldDeps): void {
  for (const entry of entries) {
    const location = folded.locations.get(entry);
    if (location === undefined) {
      deps.warn('An outcome in the journal was damaged on disk after it was written; it is dropped');
      deps.index.remove(entry);
      continue;
    }
    entry.location = location;
    entry.text = undefined;
  }
}

async function removeLog(
  path: string,
  options: { files: JournalFs; wallMs: number; isDamaged: boolean },
): Promise<void> {
  const { files, wallMs, isDamaged } = options;
  try {
    await (isDamaged ? setAside(files, path, { wallMs }) : files.unlink(path));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
