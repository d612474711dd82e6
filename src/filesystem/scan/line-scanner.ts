// Finds the lines of a file that hold a literal, block by block in one buffer: the memory does not depend on the file, nor
// on the length of its lines. It searches bytes with the native search and counts lines only as far as a match needs them.

import { type ByteSearch, createByteSearch } from './byte-search.ts';
import { EXCERPT_CONTEXT_BYTES, excerpt } from './excerpt.ts';

const BLOCK_BYTES = 256 * 1024;
/** A zero byte in the first bytes of a file makes it binary (the rule of the contract, and of git). */
const BINARY_PROBE_BYTES = 8 * 1024;
const LINE_FEED = 0x0a;

export interface LineMatch {
  /** From 1. */
  line: number;
  /** The line without its end, or a window of 1,000 characters round the match. */
  text: string;
}

interface ScanSource {
  /** Reads the next bytes of the file into the buffer; 0 at its end. */
  read(into: Buffer, offset: number, lengthBytes: number): number | Promise<number>;
  /** Called between blocks; throws to stop the scan. */
  pass(): Promise<void> | undefined;
}

export interface LineScanner {
  /** Calls `onMatch` once per matching line until it returns false. A binary file has no matches. */
  scan(source: ScanSource, onMatch: (match: LineMatch) => boolean): Promise<void>;
}

/** A scanner for one literal, used for one file after another. The literal is not empty and holds no line feed. */
export function createLineScanner(needle: Buffer): LineScanner {
  const margin = needle.length + EXCERPT_CONTEXT_BYTES;
  const search = createByteSearch(BLOCK_BYTES + margin + EXCERPT_CONTEXT_BYTES, needle);
  const { bytes } = search;

  return {
    async scan(source, onMatch) {
      const window: Window = {
        search,
        bytes,
        filled: 0,
        at: 0,
        counted: 0,
        line: 1,
        skipsLine: false,
        atEnd: false,
      };
      await fill(window, source);
      if (bytes.subarray(0, Math.min(window.filled, BINARY_PROBE_BYTES)).includes(0)) return;
      while (takeMatches(window, { needle, margin }, onMatch) && !window.atEnd) {
        await source.pass();
        dropUsed(window);
        await fill(window, source);
      }
    },
  };
}

interface Window {
  readonly search: ByteSearch;
  readonly bytes: Buffer;
  filled: number;
  /** Where the search goes on. */
  at: number;
  /** `line` is the number of the line at this position. */
  counted: number;
  line: number;
  /** The rest of the current line is passed over: it was reported already. */
  skipsLine: boolean;
  atEnd: boolean;
}

async function fill(window: Window, source: ScanSource): Promise<void> {
  const { bytes } = window;
  while (window.filled < bytes.length) {
    const count = await source.read(bytes, window.filled, bytes.length - window.filled);
    window.filled += count;
    if (count === 0) {
      window.atEnd = true;
      return;
    }
  }
}

/** Reports the matches whose surroundings are in the window. False when `onMatch` has had enough. */
function takeMatches(
  window: Window,
  { needle, margin }: { needle: Buffer; margin: number },
  onMatch: (match: LineMatch) => boolean,
): boolean {
  const bytes = window.bytes.subarray(0, window.filled);
  while (window.at < window.filled) {
    if (window.skipsLine) {
      passLine(window, bytes.indexOf(LINE_FEED, window.at));
      continue;
    }
    const hit = window.search.find(window.at, window.filled);
    if (hit < 0) {
      window.at = Math.max(window.at, window.filled - needle.length + 1);
      return true;
    }
    const lineEnd = bytes.indexOf(LINE_FEED, hit + needle.length);
    if (lineEnd < 0 && !window.atEnd && hit + margin > window.filled) {
      window.at = hit;
      return true;
    }
    countTo(window, hit);
    const text = excerpt(bytes, { start: hit, length: needle.length }, lineEnd < 0 ? undefined : lineEnd);
    if (!onMatch({ line: window.line, text })) return false;
    passLine(window, lineEnd);
  }
  return true;
}

function passLine(window: Window, lineEnd: number): void {
  window.skipsLine = lineEnd < 0;
  window.at = lineEnd < 0 ? window.filled : lineEnd + 1;
}

/** Makes room for the next block, keeping what a match at the search position could need before it. */
function dropUsed(window: Window): void {
  const context = window.skipsLine ? 0 : EXCERPT_CONTEXT_BYTES;
  const from = Math.max(0, Math.min(window.at, window.filled) - context);
  if (from > window.counted) countTo(window, from);
  window.bytes.copyWithin(0, from, window.filled);
  window.filled -= from;
  window.counted -= from;
  window.at -= from;
}

function countTo(window: Window, end: number): void {
  if (end > window.counted) window.line += window.search.countLineFeeds(window.counted, end);
  window.counted = end;
}
