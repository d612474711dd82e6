// Chunks in, lines of bytes out, split at the byte 0x0A alone. Holds one unfinished line of at most `maxLineBytes`; the
// rest of a longer one is skipped up to its newline.

import { ByteCollector } from './byte-collector.ts';

export interface LineEvents {
  /** Without its newline, a carriage return before it included; often a view of the chunk. */
  onLine(line: Buffer): void;
  /** Once for each line that is too long. */
  onOverflow(): void;
}

const NEWLINE = 0x0a;

export class LineReader {
  readonly #maxLineBytes: number;
  readonly #events: LineEvents;
  readonly #partial = new ByteCollector();
  #isSkipping = false;

  constructor(maxLineBytes: number, events: LineEvents) {
    this.#maxLineBytes = maxLineBytes;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk, start, end, true);
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk, start, chunk.length, false);
  }

  /** A last line may lack its newline. */
  end(): void {
    if (this.#partial.byteLength > 0) this.#hold(Buffer.alloc(0), 0, 0, true);
  }

  #hold(chunk: Buffer, start: number, end: number, isWhole: boolean): void {
    const isTooLong = this.#partial.byteLength + end - start > this.#maxLineBytes;
    if (isTooLong && !this.#isSkipping) {
      this.#isSkipping = true;
      this.#partial.clear();
      this.#events.onOverflow();
    }
    if (this.#isSkipping) {
      this.#isSkipping = !isWhole;
      return;
    }
    const part = chunk.subarray(start, end);
    if (isWhole && this.#partial.byteLength === 0) return void this.#events.onLine(part);
    this.#partial.add(part);
    if (!isWhole) return;
    const line = this.#partial.bytes();
    this.#partial.clear();
    this.#events.onLine(line);
  }
}
