// Reads a file line by line in bounded memory, whatever is in it: a garbage file without newlines costs one buffer.
import type { JournalFs } from '../journal-fs.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Four times the frame limit; no record comes near it. A longer line is reported as empty bytes and skipped. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

export interface ScanResult {
  /** Offset just behind the last newline. */
  endBytes: number;
  /** What follows the last newline, at most MAX_LINE_BYTES of it. */
  tail: Buffer;
}

/** Calls `onLine` for each line, newline removed. The bytes are only valid during the call. */
export async function scanLines(
  files: JournalFs,
  fd: number,
  onLine: (line: Buffer, offsetBytes: number) => void,
): Promise<ScanResult> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let lineStart = 0;
  let pending = Buffer.alloc(0);
  let isOversized = false;
  for (let position = 0; ; ) {
    const count = await files.read(fd, chunk, position);
    if (count === 0) return { endBytes: lineStart, tail: pending };
    position += count;
    const fresh = chunk.subarray(0, count);
    let from = 0;
    for (let newline = fresh.indexOf(0x0a); newline >= 0; newline = fresh.indexOf(0x0a, from)) {
      const end = fresh.subarray(from, newline);
      const line = pending.length === 0 ? end : Buffer.concat([pending, end]);
      onLine(isOversized ? line.subarray(0, 0) : line, lineStart);
      lineStart = position - count + newline + 1;
      from = newline + 1;
      pending = Buffer.alloc(0);
      isOversized = false;
    }
    if (pending.length + count - from > MAX_LINE_BYTES) isOversized = true;
    if (!isOversized) pending = Buffer.concat([pending, fresh.subarray(from)]);
  }
}
