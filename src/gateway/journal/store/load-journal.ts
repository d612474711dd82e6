// Start-up: reads whatever lies in the journal's files and never fails because of it (only when the machine is short of
// memory or descriptors, to be tried again). Good records are kept, also before
// and after damage; a file that lost something is set aside, at once when it holds nothing good, else by the next fold.
import { constants } from 'node:fs';
import type { Clock } from '../../../support/clock.ts';
import type { Entry } from '../entry-index.ts';
import { errnoOf, ignoreFailure, type JournalFs } from '../journal-fs.ts';
import { Segment } from '../segment.ts';
import type { JournalPaths } from './journal-paths.ts';
import { type Collect, type FileContent, intact, readFoldedFile, readLogFile } from './read-files.ts';
import { setAside } from './set-aside.ts';

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK; // A FIFO in the file's place must not block.

/** The machine is short of something for the moment: says nothing about the file, so it is neither damaged nor set aside. */
export const PASSING_FAILURES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

export interface LoadDeps {
  files: JournalFs;
  clock: Clock;
  paths: JournalPaths;
  /** Newer than the folded file, older than the other logs. */
  strayLogs: readonly string[];
  ttlMs: number;
  maxEntries: number;
  /** An explicit file may be made empty by a person; in a state directory nobody but a crash leaves one. */
  mayBeEmpty: boolean;
  /** False when the files are not ours to change: then they are only read. */
  mayRepair: boolean;
}

export interface LoadedJournal {
  entries: Entry[];
  segments: Segment[];
  hasOldLog: boolean;
  /** End of the last whole line of the log. */
  logEndBytes: number;
  /** Files of which something is lost although other records in them are good. */
  damagedPaths: string[];
  /** The files are not in the form a clean stop leaves: fold before appending. */
  needsFold: boolean;
  /** Of files that are only read, some cannot be: what is in them is not replayed. */
  hasUnread: boolean;
  warnings: string[];
}

export async function loadJournal(deps: LoadDeps): Promise<LoadedJournal> {
  const found = new Map<string, Entry>();
  const collect = collector(found, deps);
  const loaded: LoadedJournal = {
    entries: [],
    segments: [],
    hasOldLog: false,
    logEndBytes: 0,
    damagedPaths: [],
    needsFold: false,
    hasUnread: false,
    warnings: [],
  };
  try {
    await loadFiles({ deps, loaded, collect });
  } catch (error) {
    for (const segment of loaded.segments) await ignoreFailure(segment.retire());
    throw error;
  }
  loaded.needsFold ||= loaded.hasOldLog || deps.strayLogs.length > 0 || loaded.damagedPaths.length > 0;
  loaded.entries = [...found.values()];
  return loaded;
}

/** Oldest first, since a later record of an id wins. */
async function loadFiles(context: {
  deps: LoadDeps;
  loaded: LoadedJournal;
  collect: Collect;
}): Promise<void> {
  const { deps, loaded, collect } = context;
  const { files, paths } = deps;
  const readLog = (segment: Segment): Promise<FileContent> => readLogFile(files, segment, collect);
  const readFolded = async (segment: Segment): Promise<FileContent> =>
    deps.mayBeEmpty && segment.sizeBytes === 0 ? intact(0, 0) : await readFoldedFile(files, segment, collect);
  await loadFile(paths.folded, { deps, loaded, read: readFolded });
  for (const path of deps.strayLogs) await loadFile(path, { deps, loaded, read: readLog });
  loaded.hasOldLog = (await loadFile(paths.oldLog, { deps, loaded, read: readLog })) !== undefined;
  loaded.logEndBytes = (await loadFile(paths.log, { deps, loaded, read: readLog }))?.endBytes ?? 0;
}

function collector(found: Map<string, Entry>, deps: LoadDeps): Collect {
  const wallMs = deps.clock.wallMs();
  const monotonicMs = deps.clock.monotonicMs();
  return (fields, source) => {
    found.delete(fields.id);
    const remainingMs = Math.min(fields.expiresAtMs - wallMs, deps.ttlMs);
    if (remainingMs <= 0) return;
    found.set(fields.id, {
      id: fields.id,
      requestDigest: fields.requestDigest,
      expiresAtMonotonicMs: monotonicMs + remainingMs,
      text: 'text' in source ? source.text : undefined,
      location: 'location' in source ? source.location : undefined,
    });
    const [oldest] = found.keys();
    if (found.size > deps.maxEntries && oldest !== undefined) found.delete(oldest);
  };
}

interface LoadFileContext {
  deps: LoadDeps;
  loaded: LoadedJournal;
  read: (segment: Segment) => Promise<FileContent>;
}

/** undefined when nothing of the file is left to care about: it is missing, or was set aside whole. */
async function loadFile(path: string, context: LoadFileContext): Promise<FileContent | undefined> {
  const { deps, loaded, read } = context;
  let content: FileContent;
  try {
    const segment = await openSegment(deps.files, path);
    loaded.segments.push(segment);
    content = await read(segment);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    if (deps.mayRepair && PASSING_FAILURES.has(errnoOf(error) ?? '')) throw error;
    if (!deps.mayRepair && errnoOf(error) !== undefined) {
      // Told once for all files, together with why they could not be taken.
      loaded.hasUnread = true;
      return undefined;
    }
    const reason = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
    content = { damage: `cannot be read: ${reason}`, goodRecords: 0, endBytes: 0, isOlderLayout: false };
  }
  if (content.isOlderLayout) loaded.needsFold = true;
  if (content.damage === undefined) return content;
  const keepsRecords = content.goodRecords > 0;
  if (keepsRecords) loaded.damagedPaths.push(path);
  loaded.warnings.push(
    `Journal file "${path}" ${content.damage}; ${await dispose(path, keepsRecords, deps)}`,
  );
  return keepsRecords || !deps.mayRepair ? content : undefined;
}

/** What becomes of a damaged file, in words; one without a good record is moved away here. */
async function dispose(path: string, keepsRecords: boolean, deps: LoadDeps): Promise<string> {
  if (!deps.mayRepair)
    return `left as it is, ${keepsRecords ? 'good records in it are' : 'nothing in it is'} used`;
  if (keepsRecords)
    return 'good records in it were kept, the file itself is set aside with ".damaged-" in its name';
  try {
    return `set aside as "${await setAside(deps.files, path, { wallMs: deps.clock.wallMs() })}"`;
  } catch (error) {
    return `it cannot be set aside (${errnoOf(error) ?? String(error)})`;
  }
}

async function openSegment(files: JournalFs, path: string): Promise<Segment> {
  const fd = await files.open(path, READ_FLAGS, 0o600);
  try {
    const facts = await files.facts(fd);
    if (!facts.isFile) throw new Error('not a regular file');
    return new Segment(files, fd, facts.sizeBytes);
  } catch (error) {
    await ignoreFailure(files.close(fd));
    throw error;
  }
}
