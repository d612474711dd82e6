// The journal's files while they are in use: taking them (lock, load, repair), appending to the log, and folding the log
// into operations.json. Calls of take(), append() and maintain() must not overlap; a fold runs beside appends.
// What is acknowledged here survives kill -9 and a power cut. Nothing here decides what a failure means for an operation.
import type { Clock } from '../../../support/clock.ts';
import { FileLock } from '../../../support/file-lock.ts';
import type { Log } from '../../../support/log.ts';
import type { Entry, EntryIndex } from '../entry-index.ts';
import { errnoOf, ignoreFailure, type JournalFs } from '../journal-fs.ts';
import type { Segment } from '../segment.ts';
import { encodeEntry, readText } from './entry-line.ts';
import { foldEntries } from './fold.ts';
import { prepareDirectory, removeLeftovers } from './journal-directory.ts';
import { type DiskLocation, type JournalPaths, locateJournal, pathsOf } from './journal-paths.ts';
import { type LoadedJournal, loadJournal } from './load-journal.ts';
import { openLogFile, writeLines } from './log-file.ts';
import { findStrayLogs } from './stray-logs.ts';

export type { DiskLocation } from './journal-paths.ts';

/** After a failed fold, and between two checks that found too little to gain, the log grows by this part of its bound first. */
const FOLD_STEP = 1 / 8;
/** Taking the files reads them whole; after a failure it is tried again at most this often, in between it fails as before. */
const TAKE_PAUSE_MS = 1_000;
/** A full disk is searched for space in our own files at most this often. */
const RECLAIM_PAUSE_MS = 1_000;

export interface StoreOptions {
  location: DiskLocation;
  ttlMs: number;
  maxEntries: number;
  /** The log is folded when it is larger than this and than twice what is live. */
  foldAtBytes: number;
}

export interface StoreDeps {
  files: JournalFs;
  clock: Clock;
  log: Log;
  index: EntryIndex;
  warn: (message: string) => void;
}

export class JournalStore {
  readonly #options: StoreOptions;
  #paths: JournalPaths;
  readonly #deps: StoreDeps;
  #lock: FileLock;
  #isLocated = false;
  readonly #segments = new Set<Segment>();
  #log: Segment | undefined;
  #isTaken = false;
  #hasUnread = false;
  #hasOldLog = false;
  /** Logs under other names that no fold has taken in yet. */
  #strayLogs: readonly string[] = [];
  #damagedPaths = new Set<string>();
  readonly #foldStepBytes: number;
  #nextFoldBytes: number;
  #nextReclaimMs = Number.NEGATIVE_INFINITY;
  #refusal: { error: unknown; untilMs: number } | undefined;
  #fold: Promise<void> | undefined;

  constructor(options: StoreOptions, deps: StoreDeps) {
    this.#options = options;
    this.#paths = pathsOf(options.location);
    this.#deps = deps;
    this.#lock = new FileLock(this.#paths.lock, deps.files);
    this.#nextFoldBytes = options.foldAtBytes;
    this.#foldStepBytes = options.foldAtBytes * FOLD_STEP;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Some of the files could neither be taken nor read: what they hold is not replayed. */
  get hasUnread(): boolean {
    return this.#hasUnread;
  }

  /**
   * Locks the files, reads them into the index and makes the log ready. Nothing to do when they are taken already.
   * Throws what the file system throws, or an error that names the process that has them; may be called again then.
   */
  async take(): Promise<void> {
    if (this.#isTaken) return;
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#refusal !== undefined && nowMs < this.#refusal.untilMs) throw this.#refusal.error;
    try {
      await this.#takeNow();
      this.#refusal = undefined;
    } catch (error) {
      this.#refusal = { error, untilMs: nowMs + TAKE_PAUSE_MS };
      throw error;
    }
  }

  async #takeNow(): Promise<void> {
    await this.#locate();
    const paths = this.#paths;
    await prepareDirectory({ paths, isOwn: this.#options.location.kind === 'directory' }, this.#deps);
    this.#strayLogs = await findStrayLogs(paths, this.#deps.files);
    const lock = await this.#lock.take();
    if (lock.status === 'held') throw new Error(`in use by process ${lock.pid}`);
    await removeLeftovers(paths, this.#deps.files);
    const loaded = await this.#load(true);
    this.#hasOldLog = loaded.hasOldLog;
    this.#damagedPaths = new Set(loaded.damagedPaths);
    if (loaded.needsFold || this.#deps.index.hasEntriesOutside(loaded.segments)) {
      if (await this.#tryFold([paths.oldLog, paths.log])) loaded.logEndBytes = 0;
    }
    await this.#openLog(loaded.logEndBytes);
    this.#isTaken = true;
  }

  /** Once: a link that is pointed elsewhere later must not part the log from its lock. */
  async #locate(): Promise<void> {
    if (this.#isLocated) return;
    this.#paths = await locateJournal(this.#options.location, this.#deps.files);
    this.#lock = new FileLock(this.#paths.lock, this.#deps.files);
    this.#isLocated = true;
  }

  /** Reads what can be read when the files cannot be taken: a read-only disk still answers for finished operations. */
  async readOnly(): Promise<void> {
    await this.#load(false);
  }

  /** On return the lines are on disk and the entries know where. Throws what the file system throws; then none is. */
  async append(entries: Entry[]): Promise<void> {
    const { files, clock } = this.#deps;
    if (this.#isTaken && this.#log !== undefined && files.linkCount(this.#log.fd) === 0) await this.#letGo();
    await this.take();
    const log = this.#log ?? (await this.#openLog(0));
    if (log.hasTornTail) await log.cutTornTail();
    // What was held in memory may be on disk by now: take() folds it in.
    const written = entries.filter(({ text }) => text !== undefined);
    const lines = written.map((entry) => encodeEntry(entry, entry.text ?? '', clock));
    const lengths = lines.map((line) => line.length);
    if (lines.length > 0) await writeLines(log, lines, files);
    for (const [at, entry] of written.entries()) {
      const lengthBytes = lengths[at] ?? 0;
      entry.location = { segment: log, offsetBytes: log.sizeBytes, lengthBytes };
      entry.text = undefined;
      log.sizeBytes += lengthBytes + 1; // With the newline.
    }
  }

  /** The outcome's JSON text; undefined when its bytes on disk are no longer those that were written. */
  async read(entry: Entry): Promise<string | undefined> {
    return readText(entry);
  }

  /** Starts a fold when the log has grown past its bound. Resolves when the next append may come, not when it is done. */
  async maintain(): Promise<void> {
    const log = this.#log;
    if (log === undefined || this.#fold !== undefined || log.sizeBytes <= this.#nextFoldBytes) return;
    const wantedBytes = Math.max(this.#options.foldAtBytes, 2 * this.#deps.index.liveBytes());
    if (log.sizeBytes > wantedBytes) await this.#startFold(log);
    else this.#nextFoldBytes = Math.max(wantedBytes, log.sizeBytes + this.#foldStepBytes);
  }

  /** After ENOSPC or EDQUOT: gives back logs in which all is dead, or folds when half of the log is. */
  async reclaim(error: unknown): Promise<void> {
    const { clock, index, files } = this.#deps;
    const log = this.#log;
    const isFull = errnoOf(error) === 'ENOSPC' || errnoOf(error) === 'EDQUOT';
    if (!isFull || log === undefined || this.#fold !== undefined) return;
    if (clock.monotonicMs() < this.#nextReclaimMs) return;
    this.#nextReclaimMs = clock.monotonicMs() + RECLAIM_PAUSE_MS;
    // A fold needs room for its new file, which a full disk may not have; what is all dead needs none.
    const used = index.live().flatMap(({ location }) => location?.segment ?? []);
    if (this.#hasOldLog && used.every((segment) => segment === log)) {
      await files.unlink(this.#paths.oldLog);
      this.#hasOldLog = false;
      await this.#retireUnused();
    }
    if (!used.includes(log)) {
      log.sizeBytes = 0;
      await log.cutTornTail();
    } else if (log.sizeBytes >= 2 * this.#deps.index.liveBytes()) await this.#startFold(log);
  }

  /** Folds what is left into operations.json, closes the files and gives the lock back. */
  async close(): Promise<void> {
    await this.#fold;
    const paths = this.#paths;
    const log = this.#log;
    this.#log = undefined;
    if (this.#isTaken) {
      const isFolded = log?.sizeBytes === 0 && !this.#hasOldLog && !this.#deps.index.hasUnwritten();
      if (isFolded) await ignoreFailure(this.#deps.files.unlink(paths.log));
      else await this.#tryFold([paths.oldLog, paths.log]);
      await ignoreFailure(this.#lock.release());
      this.#isTaken = false;
    }
    for (const segment of this.#segments) await ignoreFailure(segment.retire());
    this.#segments.clear();
  }

  /** The log's name is gone: somebody removed the files. Our descriptors still hold them; take() writes them anew. */
  async #letGo(): Promise<void> {
    this.#deps.warn(`Journal file "${this.#paths.log}" was removed by somebody else; it is written again`);
    await this.#fold;
    this.#log = undefined;
    this.#isTaken = false;
  }

  async #load(mayRepair: boolean): Promise<LoadedJournal> {
    const mayBeEmpty = this.#options.location.kind === 'file';
    const options = {
      ...this.#options,
      paths: this.#paths,
      strayLogs: this.#strayLogs,
      mayBeEmpty,
      mayRepair,
    };
    const loaded = await loadJournal({ ...this.#deps, ...options });
    this.#hasUnread = loaded.hasUnread;
    for (const warning of loaded.warnings) this.#deps.warn(warning);
    for (const segment of loaded.segments) this.#segments.add(segment);
    this.#deps.index.merge(loaded.entries);
    await this.#retireUnused();
    return loaded;
  }

  async #openLog(endBytes: number): Promise<Segment> {
    const log = await openLogFile(this.#paths.log, endBytes, this.#deps.files);
    this.#segments.add(log);
    this.#log = log;
    return log;
  }

  /** The log becomes the old log and a new one is begun, so that appends go on while the old one is taken in. */
  async #startFold(log: Segment): Promise<void> {
    const paths = this.#paths;
    this.#nextFoldBytes = log.sizeBytes + this.#foldStepBytes;
    if (!this.#hasOldLog) {
      await this.#deps.files.rename(paths.log, paths.oldLog);
      this.#hasOldLog = true;
      this.#log = undefined;
      await this.#openLog(0);
    }
    this.#fold = this.#tryFold([paths.oldLog]).then((isDone) => {
      this.#fold = undefined;
      this.#nextFoldBytes = isDone
        ? this.#options.foldAtBytes
        : (this.#log?.sizeBytes ?? 0) + this.#foldStepBytes;
    });
  }

  /** A failed fold costs nothing but space: every record is still where it was. */
  async #tryFold(foldedLogs: string[]): Promise<boolean> {
    try {
      await this.#foldInto(foldedLogs);
      return true;
    } catch (error) {
      this.#deps.log.warn(
        `Cannot fold the journal log: ${errnoOf(error) ?? String(error)}; it is tried again later`,
      );
      return false;
    }
  }

  /** Takes in all that is not in the current log. */
  async #foldInto(foldedLogs: string[]): Promise<void> {
    const entries = this.#deps.index
      .live()
      .filter(({ location }) => location === undefined || location.segment !== this.#log);
    await foldEntries(
      { entries, foldedLogs: [...this.#strayLogs, ...foldedLogs], damagedPaths: this.#damagedPaths },
      { ...this.#deps, paths: this.#paths, adopt: (segment) => this.#segments.add(segment) },
    );
    this.#hasOldLog = false;
    this.#strayLogs = [];
    await this.#retireUnused();
  }

  async #retireUnused(): Promise<void> {
    const used = new Set(this.#deps.index.live().map(({ location }) => location?.segment));
    for (const segment of this.#segments) {
      if (segment === this.#log || used.has(segment)) continue;
      this.#segments.delete(segment);
      await ignoreFailure(segment.retire());
    }
  }
}
