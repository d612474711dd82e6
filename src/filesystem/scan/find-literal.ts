// Where a literal stands in an open file, read block by block. Used to change a file of any size in bounded memory.

import type { FileHandle } from 'node:fs/promises';

const BLOCK_BYTES = 1024 * 1024;

export type Occurrence = { status: 'none' } | { status: 'once'; offsetBytes: number } | { status: 'more' };

/** Whether the literal occurs once; occurrences that overlap count each. Throws the signal's reason when aborted. */
export async function findLiteral(
  handle: FileHandle,
  needle: Buffer,
  signal: AbortSignal,
): Promise<Occurrence> {
  const bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES + needle.length);
  let base = 0;
  let filled = 0;
  let found: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, base + filled);
    filled += bytesRead;
    const window = bytes.subarray(0, filled);
    let from = 0;
    for (let hit = window.indexOf(needle); hit >= 0; hit = window.indexOf(needle, from)) {
      if (found !== undefined) return { status: 'more' };
      found = base + hit;
      from = hit + 1;
    }
    if (bytesRead === 0)
      return found === undefined ? { status: 'none' } : { status: 'once', offsetBytes: found };
    // Keep what could begin an occurrence that ends in the next block, but nothing that was already found.
    const keepFrom = Math.max(0, from, filled - needle.length + 1);
    bytes.copyWithin(0, keepFrom, filled);
    base += keepFrom;
    filled -= keepFrom;
  }
}
