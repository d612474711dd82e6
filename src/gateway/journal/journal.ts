// The journal: the outcomes of completed operations, so that a request sent again gets its answer instead of a second run.
// It promises: what was acknowledged as durable survives kill -9 and a power cut for its five minutes; a start never fails
// and never silently begins empty because of what is in a state directory, and never touches files of others for a file named by
// hand; a disk that refuses never fails an operation; and one
// outcome costs one append, whatever the journal already holds. It never journals work that has not completed.
import { JOURNAL_MAX_ENTRIES, JOURNAL_TTL_MS } from '../../protocol/defaults.ts';
import type { Clock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import type { Journal } from './contract.ts';
import type { JournalFs } from './journal-fs.ts';
import { createMemoryJournal } from './memory-journal.ts';
import type { DiskLocation } from './store/store.ts';

export type { Journal, JournalRecord, JournalStatus } from './contract.ts';

/** The log is folded into operations.json when it is larger than this and than twice the live outcomes. */
const FOLD_AT_BYTES = 8 * 1024 * 1024;

export interface JournalOptions {
  /** `directory`: a state directory of the daemon's own. `file`: an explicit file in a directory that may hold others. */
  location: { kind: 'memory' } | DiskLocation;
  /** From completion to expiry. Default JOURNAL_TTL_MS. */
  ttlMs?: number;
  /** The oldest outcome leaves when there are more. Default JOURNAL_MAX_ENTRIES. */
  maxEntries?: number;
  /** Default 8 MiB. */
  foldAtBytes?: number;
}

export interface JournalDeps {
  clock: Clock;
  log: Log;
  /** Default: the real file system. */
  files?: JournalFs;
}

/**
 * The journal, ready. Never rejects because the disk is full, read-only or broken, or its directory may not be written: it is
 * degraded then, says so, and tries again. Throws ConfigurationError for a directory that is none, or that cannot be made or entered,
 * and for an explicit file whose names are taken by something that is not recognisably ours; nothing is touched then.
 */
export async function openJournal(options: JournalOptions, deps: JournalDeps): Promise<Journal> {
  const { location, ttlMs = JOURNAL_TTL_MS, maxEntries = JOURNAL_MAX_ENTRIES } = options;
  if (location.kind === 'memory') return createMemoryJournal({ ttlMs, maxEntries }, deps);
  // A daemon that keeps nothing on disk does not pay for the modules that do.
  const [{ DiskJournal }, { systemJournalFs }] = await Promise.all([
    import('./disk-journal.ts'),
    import('./journal-fs.ts'),
  ]);
  const journal = new DiskJournal(
    { location, ttlMs, maxEntries, foldAtBytes: options.foldAtBytes ?? FOLD_AT_BYTES },
    { clock: deps.clock, log: deps.log, files: deps.files ?? systemJournalFs },
  );
  await journal.start();
  return journal;
}
