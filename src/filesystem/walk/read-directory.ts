// The visible names of one directory, sorted, with their types. Bounded: of a directory with millions of names only as
// many are kept as the caller can still use, and the event loop is given back while they are read.

import { type Dirent, readdirSync, statSync } from 'node:fs';
import { opendir, readdir, stat } from 'node:fs/promises';
import { errnoOf } from '../errno.ts';

/** Up to this size a directory is read in one call: some 20,000 names, which take about 10 ms to turn into objects. */
const ONE_CALL_DIRECTORY_BYTES = 512 * 1024;
/** Names per system call batch of a directory beyond that. */
const BATCH_ENTRIES = 1_024;

/** A path as the system takes it: bytes where a name on the way is not UTF-8. */
export type Location = string | Buffer;

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

export interface DirectoryEntry {
  /** The name as text; bytes that are not UTF-8 read as U+FFFD. */
  name: string;
  type: EntryType;
  location: Location;
  isUtf8: boolean;
}

export type DirectoryReading =
  | { status: 'read'; entries: DirectoryEntry[] }
  | { status: 'unreadable'; errno: string; error: unknown };

/** Names that start with a dot and `node_modules` are never visible to a walk. */
function isVisible(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules';
}

/**
 * The first `limit` visible entries in the order of their names (UTF-16 code units, then bytes). Never rejects. Where the
 * mount cannot hang, small directories are read without a hop to the thread pool.
 */
export async function readDirectory(
  location: Location,
  { limit, canHang }: { limit: number; canHang: boolean },
): Promise<DirectoryReading> {
  try {
    return { status: 'read', entries: await readEntries(location, limit, canHang) };
  } catch (error) {
    return { status: 'unreadable', errno: errnoOf(error) ?? 'EIO', error };
  }
}

/** Whether a directory holds anything a walk would see; reads no further than the first such name. */
export async function peekDirectory(location: Location): Promise<'visible' | 'empty' | { errno: string }> {
  try {
    for await (const found of await opendir(location as string)) {
      if (isVisible(found.name)) return 'visible';
    }
    return 'empty';
  } catch (error) {
    return { errno: errnoOf(error) ?? 'EIO' };
  }
}

async function readEntries(location: Location, limit: number, canHang: boolean): Promise<DirectoryEntry[]> {
  const { size } = canHang ? await stat(location) : statSync(location);
  if (size > ONE_CALL_DIRECTORY_BYTES) return readInBatches(location, limit);
  const options = { withFileTypes: true } as const;
  const found = canHang ? await readdir(location, options) : readdirSync(location, options);
  if (found.some((entry) => entry.name.includes('\uFFFD'))) {
    // Some name may not be UTF-8: only its bytes still name it.
    const raw = await readdir(location, { withFileTypes: true, encoding: 'buffer' });
    return firstInOrder(raw.map((entry) => rawEntry(entry, location)).filter(isEntryVisible), limit);
  }
  const entries: DirectoryEntry[] = [];
  for (const entry of found) if (isVisible(entry.name)) entries.push(textEntry(entry, location));
  return firstInOrder(entries, limit);
}

/** Reads names as bytes at once: a second pass over a directory this large would cost more than it saves. */
async function readInBatches(location: Location, limit: number): Promise<DirectoryEntry[]> {
  const pruneAt = 2 * limit + BATCH_ENTRIES;
  let kept: DirectoryEntry[] = [];
  // The typings leave out that opendir takes bytes as path and the encoding "buffer", which Node documents for both.
  const options = { bufferSize: BATCH_ENTRIES, encoding: 'buffer' as BufferEncoding };
  for await (const found of await opendir(location as string, options)) {
    const entry = rawEntry(found as unknown as Dirent<Buffer>, location);
    if (!isEntryVisible(entry)) continue;
    kept.push(entry);
    if (kept.length >= pruneAt) kept = firstInOrder(kept, limit);
  }
  return firstInOrder(kept, limit);
}

function isEntryVisible(entry: DirectoryEntry): boolean {
  return isVisible(entry.name);
}

function firstInOrder(entries: DirectoryEntry[], limit: number): DirectoryEntry[] {
  entries.sort(inNameOrder);
  return entries.length > limit ? entries.slice(0, limit) : entries;
}

function inNameOrder(left: DirectoryEntry, right: DirectoryEntry): number {
  if (left.name < right.name) return -1;
  if (left.name > right.name) return 1;
  return Buffer.compare(Buffer.from(left.location as string), Buffer.from(right.location as string));
}

function textEntry(found: Dirent<string>, directory: Location): DirectoryEntry {
  return {
    name: found.name,
    type: typeOf(found),
    location: joinLocation(directory, found.name),
    isUtf8: true,
  };
}

function rawEntry(found: Dirent<Buffer>, directory: Location): DirectoryEntry {
  const name = found.name.toString('utf8');
  const isUtf8 = !name.includes('\uFFFD') || Buffer.from(name).equals(found.name);
  const location = joinLocation(directory, isUtf8 ? name : found.name);
  return { name, type: typeOf(found), location, isUtf8 };
}

function joinLocation(directory: Location, name: string | Buffer): Location {
  if (typeof directory === 'string' && typeof name === 'string') return `${directory}/${name}`;
  return Buffer.concat([Buffer.from(directory as string), Buffer.from('/'), Buffer.from(name as string)]);
}

function typeOf(found: Dirent<string> | Dirent<Buffer>): EntryType {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'directory';
  return found.isSymbolicLink() ? 'symlink' : 'other';
}
