// Bytes of one stream to text, chunk by chunk: a character that straddles two chunks comes out whole, and bytes that are
// not UTF-8 become U+FFFD, as many as the WHATWG decoder gives. Keeps at most three bytes back. A byte-order mark is text.
// Costs about one native pass over a chunk of text, whatever it holds.

import { isAscii, isUtf8 } from 'node:buffer';
import { incompleteTailLength } from '../support/utf8.ts';

export interface DecodedText {
  text: string;
  /** Length of `text` as UTF-8. */
  bytes: number;
}

export interface StreamDecoder {
  /** True once some input was not UTF-8. */
  readonly hasInvalidInput: boolean;
  push(chunk: Buffer): DecodedText;
  /** What was kept back: an unfinished character reads one U+FFFD. */
  end(): DecodedText;
}

const NOTHING: DecodedText = { text: '', bytes: 0 };

export function createStreamDecoder(): StreamDecoder {
  return new Utf8StreamDecoder();
}

class Utf8StreamDecoder implements StreamDecoder {
  hasInvalidInput = false;
  #held: Buffer | null = null;

  push(chunk: Buffer): DecodedText {
    const input = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = null;
    if (isAscii(input)) return { text: input.toString('latin1'), bytes: input.length };
    const tailBytes = incompleteTailLength(input);
    if (tailBytes === 0) return this.#decode(input);
    // A copy, so that three bytes do not keep a whole chunk in memory.
    this.#held = Buffer.from(input.subarray(input.length - tailBytes));
    return this.#decode(input.subarray(0, input.length - tailBytes));
  }

  end(): DecodedText {
    if (this.#held === null) return NOTHING;
    const rest = this.#held;
    this.#held = null;
    return this.#decode(rest);
  }

  #decode(input: Buffer): DecodedText {
    const text = input.toString('utf8');
    if (isUtf8(input)) return { text, bytes: input.length };
    this.hasInvalidInput = true;
    return { text, bytes: Buffer.byteLength(text) };
  }
}
