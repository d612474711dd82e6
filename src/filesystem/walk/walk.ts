// Walks a tree in one stable order: each directory's visible names sorted, a directory's content right behind it.
// It never follows a symlink, so no loop and no file twice; it stops at its bounds and says so; a directory that cannot be
// read or goes away is a warning, not the end.

import { realpath } from 'node:fs/promises';
import type { Clock } from '../../support/clock.ts';
import { createSlices } from '../slices.ts';
import { type Completeness, createCompleteness } from './completeness.ts';
import {
  type DirectoryEntry,
  type DirectoryReading,
  type Location,
  peekDirectory,
  readDirectory,
} from './read-directory.ts';

interface WalkOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Depth 0 is the directory's own entries; entries deeper than this are not visited. */
  maxDepth: number;
  /** Entries visited in all, directories included. */
  maxEntries: number;
  /** Whether a path lies where system calls may wait without end (hanging-mounts.ts). */
  canHang(path: string): boolean;
}

export interface WalkEntry extends DirectoryEntry {
  /** Relative to the root of the walk, parts joined by `/`. */
  path: string;
}

interface Level {
  readonly entries: readonly DirectoryEntry[];
  /** Path of the directory relative to the root with a slash behind, or empty for the root itself. */
  readonly prefix: string;
  readonly depth: number;
  next: number;
}

/**
 * Yields the entries of the tree under `root` in batches, in order, and notes in `completeness` what was left out.
 * Throws the system's error when the root itself cannot be read, and the signal's reason when it is aborted.
 */
export async function* walk(
  root: string,
  options: WalkOptions,
  completeness: Completeness = createCompleteness(),
): AsyncGenerator<WalkEntry[], void, void> {
  const first = await readBelow(await realpath(root), options.maxEntries, options);
  if (first.status === 'unreadable') throw first.error;
  const levels: Level[] = [openLevel(first.entries, '', 0)];
  let leftEntries = options.maxEntries;
  const slices = createSlices(options.clock, options.signal);
  while (levels.length > 0) {
    await slices.pass();
    const level = levels[levels.length - 1] as Level; // The loop runs only while there is one.
    const step = takeStep(level, leftEntries, completeness);
    leftEntries -= step.batch.length;
    if (step.batch.length > 0) yield step.batch;
    if (step.status === 'exhausted') {
      completeness.entryBudgetExhausted(options.maxEntries);
      return;
    }
    if (step.status === 'end') levels.pop();
    else {
      const below = await enter(level, step.directory, { ...options, leftEntries }, completeness);
      if (below !== undefined) levels.push(below);
    }
  }
}

type Step = { batch: WalkEntry[] } & (
  | { status: 'end' }
  | { status: 'exhausted' }
  | { status: 'directory'; directory: DirectoryEntry }
);

/** Takes entries up to and including the next directory, or as many as the budget allows. */
function takeStep(level: Level, leftEntries: number, completeness: Completeness): Step {
  const batch: WalkEntry[] = [];
  while (level.next < level.entries.length) {
    if (batch.length >= leftEntries) return { status: 'exhausted', batch };
    const entry = level.entries[level.next] as DirectoryEntry; // The index was just compared.
    level.next += 1;
    const { name, type, location, isUtf8 } = entry;
    const path = level.prefix + name;
    // Field by field: a spread copy of each entry takes as long as reading the directory.
    batch.push({ path, name, type, location, isUtf8 });
    if (!isUtf8) completeness.nameNotUtf8(path);
    if (entry.type === 'directory') return { status: 'directory', batch, directory: entry };
  }
  return { status: 'end', batch };
}

async function enter(
  level: Level,
  directory: DirectoryEntry,
  options: WalkOptions & { leftEntries: number },
  completeness: Completeness,
): Promise<Level | undefined> {
  const path = level.prefix + directory.name;
  if (level.depth >= options.maxDepth) {
    await noteDepth(directory, path, options.maxDepth, completeness);
    return undefined;
  }
  const reading = await readBelow(directory.location, options.leftEntries, options);
  if (reading.status === 'unreadable') {
    completeness.unreadableDirectory(path, reading.errno);
    return undefined;
  }
  return openLevel(reading.entries, `${path}/`, level.depth + 1);
}

async function noteDepth(
  directory: DirectoryEntry,
  path: string,
  maxDepth: number,
  completeness: Completeness,
): Promise<void> {
  // One directory left out is enough to say so; looking into each would cost as much as walking on.
  if (completeness.isDepthTruncated()) return;
  const content = await peekDirectory(directory.location);
  if (content === 'visible') completeness.depthTruncated(maxDepth);
  else if (content !== 'empty') completeness.unreadableDirectory(path, content.errno);
}

/** One entry more than may still be visited, so that what is left out is noticed. */
function readBelow(location: Location, leftEntries: number, options: WalkOptions): Promise<DirectoryReading> {
  return readDirectory(location, { limit: leftEntries + 1, canHang: options.canHang(location.toString()) });
}

function openLevel(entries: DirectoryEntry[], prefix: string, depth: number): Level {
  return { entries, prefix, depth, next: 0 };
}
