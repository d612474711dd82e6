// Chunks in, lines of text out, split at the byte 0x0A alone and decoded only when whole: all lines of a chunk at once.
// Holds one unfinished line of at most `maxLineBytes`; the rest of a longer one is skipped up to its newline.

import { isUtf8 } from 'node:buffer';
import { ByteCollector } from './byte-collector.ts';

interface LineEvents {
  /** Without its newline; a carriage return before it is left for JSON to skip. */
  onLine(text: string): void;
  /** Instead of `onLine` for a line that is not UTF-8. */
  onBroken(line: Buffer): void;
  /** Once for each line that is too long. */
  onOverflow(): void;
}

const NEWLINE = 0x0a;
const REPLACEMENT = '\ufffd';

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
    const last = chunk.lastIndexOf(NEWLINE);
    if (last === -1) return void this.#hold(chunk);
    let start = 0;
    if (this.#partial.byteLength > 0 || this.#isSkipping) {
      const end = chunk.indexOf(NEWLINE);
      this.#hold(chunk.subarray(0, end));
      this.end();
      start = end + 1;
    }
    if (start <= last) this.#lines(chunk.subarray(start, last));
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  /** A last line may lack its newline. */
  end(): void {
    this.#isSkipping = false;
    if (this.#partial.byteLength === 0) return;
    const line = this.#partial.bytes();
    this.#partial.clear();
    this.#line(line);
  }

  #hold(part: Buffer): void {
    if (this.#isSkipping) return;
    if (this.#partial.byteLength + part.length <= this.#maxLineBytes) return void this.#partial.add(part);
    this.#isSkipping = true;
    this.#partial.clear();
    this.#events.onOverflow();
  }

  #lines(block: Buffer): void {
    const text = block.toString('utf8');
    // Lines of one chunk are shorter than it; only a limit below the size of a chunk must be looked after.
    const isPlain = block.length <= this.#maxLineBytes && (!text.includes(REPLACEMENT) || isUtf8(block));
    if (!isPlain) return void this.#lineByLine(block);
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#events.onLine(text.slice(start, end));
      start = end + 1;
    }
    this.#events.onLine(start === 0 ? text : text.slice(start));
  }

  #lineByLine(block: Buffer): void {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, start)) {
      this.#line(block.subarray(start, end));
      start = end + 1;
    }
    this.#line(block.subarray(start));
  }

  #line(line: Buffer): void {
    if (line.length > this.#maxLineBytes) return void this.#events.onOverflow();
    const text = line.toString('utf8');
    if (text.includes(REPLACEMENT) && !isUtf8(line)) this.#events.onBroken(line);
    else this.#events.onLine(text);
  }
}
