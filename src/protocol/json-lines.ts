// Bytes in, lines out: splits on the byte 0x0A alone, so text is never decoded before a line is whole.
// Holds at most one unfinished line of `maxLineBytes`; a longer one is reported once and skipped, never collected.

import { releaseBytes } from '../support/release-bytes.ts';
import { MAX_FRAME_BYTES, MAX_OVERSIZED_HEAD_BYTES } from './defaults.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const FIRST_PENDING_BYTES = 4 * 1024;

export interface LineSplitterOptions {
  /** Longest line taken, newline included. Default 2 MiB. */
  maxLineBytes?: number;
  /** A line without its line end; a view of the chunk when it lay in one, so a chunk must not be reused afterwards. */
  onLine(line: Buffer): void;
  /** Once for each line over the limit, with at most its first 64 KiB, as soon as the limit is passed. */
  onOversized(head: Buffer): void;
}

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Delivers a last line that has no newline. */
  end(): void;
}

/** Splits chunks of any size into lines. Drops one `\r` before the newline; skips lines of blanks only. */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { maxLineBytes = MAX_FRAME_BYTES, onLine, onOversized } = options;
  const maxContentBytes = maxLineBytes - 1;
  let pending: Buffer | undefined;
  let pendingBytes = 0;
  let skipping = false;

  function hold(part: Buffer): void {
    const bytes = pendingBytes + part.length;
    // Doubling copies each byte a fixed number of times however small the chunks are; a list of chunks would
    // keep an object (and the memory behind it) for each of them.
    if (pending === undefined || pending.length < bytes) {
      const roomyBytes = Math.min(maxContentBytes, Math.max(FIRST_PENDING_BYTES, bytes * 2));
      const grown = Buffer.allocUnsafeSlow(Math.max(bytes, roomyBytes));
      pending?.copy(grown, 0, 0, pendingBytes);
      if (pending !== undefined) releaseBytes(pending);
      pending = grown;
    }
    part.copy(pending, pendingBytes);
    pendingBytes = bytes;
  }

  function take(): Buffer {
    const line = pending?.subarray(0, pendingBytes) ?? Buffer.alloc(0);
    pending = undefined;
    pendingBytes = 0;
    return line;
  }

  function refuse(part: Buffer): void {
    const missingBytes = MAX_OVERSIZED_HEAD_BYTES - pendingBytes;
    if (pendingBytes > 0 && missingBytes > 0) hold(part.subarray(0, missingBytes));
    onOversized((pendingBytes > 0 ? take() : part).subarray(0, MAX_OVERSIZED_HEAD_BYTES));
  }

  function finish(part: Buffer): void {
    if (skipping) {
      skipping = false;
    } else if (pendingBytes + part.length > maxContentBytes) {
      refuse(part);
    } else if (pendingBytes === 0) {
      deliver(part, onLine);
    } else {
      hold(part);
      deliver(take(), onLine);
    }
  }

  function keep(part: Buffer): void {
    if (skipping || part.length === 0) return;
    skipping = pendingBytes + part.length > maxContentBytes;
    if (skipping) refuse(part);
    else hold(part);
  }

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const part = chunk.subarray(start, end);
        start = end + 1;
        finish(part);
      }
      keep(chunk.subarray(start));
    },
    end() {
      skipping = false;
      if (pendingBytes > 0) deliver(take(), onLine);
    },
  };
}

function deliver(line: Buffer, onLine: (line: Buffer) => void): void {
  const content = line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  if (!isBlank(content)) onLine(content);
}

function isBlank(line: Buffer): boolean {
  for (const byte of line) {
    if (byte !== SPACE && byte !== TAB && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}
