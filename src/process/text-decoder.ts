// Bytes of one stream to text, chunk by chunk: a character that straddles two chunks comes out whole, and bytes that are
// not UTF-8 become U+FFFD, as many as the WHATWG decoder gives. Keeps at most three bytes back. A byte-order mark is text.
// Costs about one native pass over a chunk of text, whatever it holds.

import { isAscii, isUtf8 } from 'node:buffer';
import { incompleteTailLength } from '../support/utf8.ts';

export interface DecodedText {
  /** Made when first asked for: what only passes through need not become a string. */
  readonly text: string;
  /** Length of `text` as UTF-8. */
  readonly bytes: number;
  /** `text` as it came, good only until the chunk is released; undefined when bytes were replaced. */
  readonly utf8: Buffer | undefined;
}

export interface StreamDecoder {
  /** True once some input was not UTF-8. */
  readonly hasInvalidInput: boolean;
  push(chunk: Buffer): DecodedText;
  /** What was kept back: an unfinished character reads one U+FFFD. */
  end(): DecodedText;
}

const NOTHING = decodedText('');

export function createStreamDecoder(): StreamDecoder {
  return new Utf8StreamDecoder();
}

class Utf8StreamDecoder implements StreamDecoder {
  hasInvalidInput = false;
  #held: Buffer | null = null;

  push(chunk: Buffer): DecodedText {
    const input = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = null;
    if (isAscii(input)) return new WholeText(input, 'latin1');
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
    if (isUtf8(input)) return new WholeText(input, 'utf8');
    this.hasInvalidInput = true;
    return decodedText(input.toString('utf8'));
  }
}

/** Text that was a string first. */
export function decodedText(text: string): DecodedText {
  return { text, bytes: Buffer.byteLength(text), utf8: undefined };
}

/** A chunk in which every byte belongs to a character. */
class WholeText implements DecodedText {
  readonly utf8: Buffer;
  readonly #encoding: 'latin1' | 'utf8';
  #text: string | undefined;

  constructor(utf8: Buffer, encoding: 'latin1' | 'utf8') {
    this.utf8 = utf8;
    this.#encoding = encoding;
  }

  get bytes(): number {
    return this.utf8.length;
  }

  get text(): string {
    this.#text ??= this.utf8.toString(this.#encoding);
    return this.#text;
  }
}
