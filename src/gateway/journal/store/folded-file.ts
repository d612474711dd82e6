// operations.json: {"entries":[…]} with one record line per entry, so that it is plain JSON for everybody and can still
// be read back line by line, by offset. It is only ever replaced whole: temporary file, flush, rename, flush of the name.
import { constants } from 'node:fs';
import type { Clock } from '../../../support/clock.ts';
import { releaseBytes } from '../../../support/release-bytes.ts';
import type { Entry } from '../entry-index.ts';
import { ignoreFailure, type JournalFs, writeFully } from '../journal-fs.ts';
import { type Location, Segment } from '../segment.ts';
import { encodeEntry, readResult } from './entry-line.ts';
import type { JournalPaths } from './journal-paths.ts';

export const FOLDED_HEAD = Buffer.from('{"entries":[\n');
export const FOLDED_END = ']}';
const TEMPORARY_FLAGS = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR;
/** Lines are gathered to writes of this size; one longer line is written by itself. */
const WRITE_BYTES = 256 * 1024;

export interface FoldDeps {
  files: JournalFs;
  clock: Clock;
  paths: JournalPaths;
  /** Called when the new file is safe on disk and is about to take the name. */
  beforeReplace: () => Promise<void>;
}

export interface FoldedFile {
  segment: Segment;
  /** Where each entry lies now. An entry that could not be read back is not in it. */
  locations: Map<Entry, Location>;
}

/** Writes the entries as the new folded file. On failure the old one is as it was, and no temporary file is left. */
export async function writeFolded(entries: Entry[], deps: FoldDeps): Promise<FoldedFile> {
  const { files, paths } = deps;
  await ignoreFailure(files.unlink(paths.temporary));
  const fd = await files.open(paths.temporary, TEMPORARY_FLAGS, 0o600);
  try {
    await files.chmod(fd, 0o600); // Whatever the umask.
    const segment = new Segment(files, fd, 0);
    const locations = await writeEntries(segment, entries, deps);
    await files.sync(fd);
    await deps.beforeReplace();
    await files.rename(paths.temporary, paths.folded);
    await files.syncDirectoryOf(paths.folded);
    return { segment, locations };
  } catch (error) {
    await ignoreFailure(files.close(fd));
    await ignoreFailure(files.unlink(paths.temporary));
    throw error;
  }
}

async function writeEntries(
  segment: Segment,
  entries: Entry[],
  deps: FoldDeps,
): Promise<Map<Entry, Location>> {
  const locations = new Map<Entry, Location>();
  let parts: Buffer[] = [FOLDED_HEAD];
  let partsBytes = FOLDED_HEAD.length;
  const flush = async (): Promise<void> => {
    const bytes = Buffer.concat(parts);
    for (const part of parts) releaseBytes(part);
    await writeFully(deps.files, segment.fd, bytes, segment.sizeBytes);
    releaseBytes(bytes);
    segment.sizeBytes += partsBytes;
    parts = [];
    partsBytes = 0;
  };
  const push = (bytes: Buffer): void => {
    parts.push(bytes);
    partsBytes += bytes.length;
  };
  for (const entry of entries) {
    const result = await readResult(entry);
    if (result === undefined) continue;
    const line = encodeEntry(entry, result, deps.clock);
    // The line it was read from: a fold passes all outcomes through memory, one after another.
    if (typeof result !== 'string') releaseBytes(Buffer.from(result.buffer));
    if (locations.size > 0) push(Buffer.from(',\n'));
    locations.set(entry, { segment, offsetBytes: segment.sizeBytes + partsBytes, lengthBytes: line.length });
    push(line);
    if (partsBytes >= WRITE_BYTES) await flush();
  }
  push(Buffer.from(`${locations.size > 0 ? '\n' : ''}${FOLDED_END}\n`));
  await flush();
  return locations;
}
