// The two kinds of file the journal reads back: the folded file (also as older installations wrote it) and the log.

import type { JournalFs } from '../journal-fs.ts';
import type { Location, Segment } from '../segment.ts';
import { FOLDED_END, FOLDED_HEAD } from './folded-file.ts';
import { decodeRecord, RECORD_START, type RecordFields, readFields } from './record-line.ts';
import { scanLines } from './scan-lines.ts';

/** An older installation's file is read whole: 256 outcomes of 2 MiB, and the longest text Node can hold. */
const MAX_WHOLE_FILE_BYTES = 512 * 1024 * 1024 - 1024;

/** What one file gave. `damage` says what is wrong with it, for a person. */
export interface FileContent {
  damage: string | undefined;
  goodRecords: number;
  endBytes: number;
  isOlderLayout: boolean;
}

/** Takes one record in. Later records of an id win; expired ones are left out; only the newest are kept. */
export type Collect = (fields: RecordFields, source: { text: string } | { location: Location }) => void;

export async function readFoldedFile(
  files: JournalFs,
  segment: Segment,
  collect: Collect,
): Promise<FileContent> {
  if (segment.sizeBytes === 0) return damaged('is empty', 0);
  const head = await segment.read(0, Math.min(FOLDED_HEAD.length, segment.sizeBytes));
  return head?.equals(FOLDED_HEAD)
    ? readFoldedLines(files, segment, collect)
    : readOlderLayout(segment, collect);
}

async function readFoldedLines(files: JournalFs, segment: Segment, collect: Collect): Promise<FileContent> {
  const lines = { good: 0, bad: 0 };
  let isEnded = false;
  await scanLines(files, segment.fd, (line, offsetBytes) => {
    if (offsetBytes === 0) return;
    isEnded = line.length === FOLDED_END.length && line.toString('latin1') === FOLDED_END;
    if (isEnded) return;
    const record = line.at(-1) === 0x2c ? line.subarray(0, -1) : line;
    if (collectRecord(record, { segment, offsetBytes }, collect)) lines.good += 1;
    else lines.bad += 1;
  });
  if (lines.bad > 0) return damaged('is damaged', lines.good);
  return isEnded ? intact(lines.good, segment.sizeBytes) : damaged('is cut off', lines.good);
}

/** One JSON document in any layout, without checksums. Its outcomes stay in memory until the fold that follows. */
async function readOlderLayout(segment: Segment, collect: Collect): Promise<FileContent> {
  if (segment.sizeBytes > MAX_WHOLE_FILE_BYTES) return damaged('is larger than any journal', 0);
  const bytes = await segment.read(0, segment.sizeBytes);
  const entries = parseEntries(bytes?.toString() ?? '');
  if (entries === undefined) return damaged('is not a journal', 0);
  let good = 0;
  for (const entry of entries) {
    const fields = readFields(entry);
    const result = fields === undefined ? undefined : (entry as { result?: unknown }).result; // fields: an object
    if (fields === undefined || typeof result !== 'object' || result === null) continue;
    collect(fields, { text: JSON.stringify(result) });
    good += 1;
  }
  if (good < entries.length) return damaged('has entries that cannot be read', good);
  return { ...intact(good, segment.sizeBytes), isOlderLayout: true };
}

function parseEntries(json: string): unknown[] | undefined {
  try {
    const document: unknown = JSON.parse(json);
    if (typeof document !== 'object' || document === null || !('entries' in document)) return undefined;
    return Array.isArray(document.entries) ? document.entries : undefined;
  } catch {
    return undefined;
  }
}

/** A last line without its newline is an append that a crash cut off: dropped, and no damage. */
export async function readLogFile(
  files: JournalFs,
  segment: Segment,
  collect: Collect,
): Promise<FileContent> {
  const lines = { good: 0, bad: 0 };
  const { endBytes, tail } = await scanLines(files, segment.fd, (line, offsetBytes) => {
    if (collectRecord(line, { segment, offsetBytes }, collect)) {
      lines.good += 1;
      return;
    }
    lines.bad += 1;
    // A torn record and a whole one behind it on the same line: the second is good.
    const start = line.lastIndexOf(RECORD_START);
    if (start <= 0) return;
    const rest = { segment, offsetBytes: offsetBytes + start };
    if (collectRecord(line.subarray(start), rest, collect)) lines.good += 1;
  });
  const tailStart = tail.toString('latin1', 0, RECORD_START.length);
  if (lines.bad === 0 && RECORD_START.startsWith(tailStart)) return intact(lines.good, endBytes);
  return { ...damaged('is damaged', lines.good), endBytes };
}

function collectRecord(
  line: Buffer,
  place: { segment: Segment; offsetBytes: number },
  collect: Collect,
): boolean {
  const record = decodeRecord(line);
  if (record === undefined) return false;
  collect(record, { location: { ...place, lengthBytes: line.length } });
  return true;
}

export function intact(goodRecords: number, endBytes: number): FileContent {
  return { damage: undefined, goodRecords, endBytes, isOlderLayout: false };
}

function damaged(damage: string, goodRecords: number): FileContent {
  return { damage, goodRecords, endBytes: 0, isOlderLayout: false };
}
