// Chunks in, one buffer out. Large chunks are kept as they are and joined once; small ones are copied together, so that
// a sender of single bytes costs memory by the byte and not by the chunk.

import { releaseBytes } from '../support/release-bytes.ts';

const SMALL_CHUNK_BYTES = 4 * 1024;
const BLOCK_BYTES = 64 * 1024;

export class ByteCollector {
  byteLength = 0;
  #chunks: Buffer[] = [];
  #block: Buffer | undefined;
  #blockBytes = 0;

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.byteLength += chunk.length;
    if (this.byteLength === chunk.length || chunk.length >= SMALL_CHUNK_BYTES) {
      this.#sealBlock();
      this.#chunks.push(chunk);
      return;
    }
    if (this.#block !== undefined && this.#blockBytes + chunk.length > BLOCK_BYTES) this.#sealBlock();
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    chunk.copy(this.#block, this.#blockBytes);
    this.#blockBytes += chunk.length;
  }

  /** Everything so far; the collector keeps it. No copy when all came in one chunk; otherwise the chunks are empty afterwards. */
  bytes(): Buffer {
    this.#sealBlock();
    const [first] = this.#chunks;
    if (first === undefined) return Buffer.alloc(0);
    if (this.#chunks.length === 1) return first;
    const joined = Buffer.concat(this.#chunks, this.byteLength);
    // Left to the garbage collector they would double the memory of a large answer, and slow down every fork.
    for (const chunk of this.#chunks) releaseBytes(chunk);
    this.#chunks = [joined];
    return joined;
  }

  /** As `clear`, and frees the memory at once: nobody may hold on to what `bytes` answered. */
  release(): void {
    for (const chunk of this.#chunks) releaseBytes(chunk);
    this.clear();
  }

  clear(): void {
    this.byteLength = 0;
    this.#chunks = [];
    this.#block = undefined;
    this.#blockBytes = 0;
  }

  #sealBlock(): void {
    if (this.#block === undefined) return;
    this.#chunks.push(this.#block.subarray(0, this.#blockBytes));
    this.#block = undefined;
    this.#blockBytes = 0;
  }
}
