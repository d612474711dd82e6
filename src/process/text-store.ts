// The text of one stream as it grows, kept up to a bound. Many tiny parts cost little more than their characters: they are
// joined in groups, because a string grown by `+=` holds a tree node for every part until it is read.

import { clipUtf8 } from '../support/utf8.ts';
import type { DecodedText } from './text-decoder.ts';

const PARTS_PER_GROUP = 256;

export interface TextStore {
  /** Something did not fit and was dropped. */
  readonly isFull: boolean;
  /** Text past the bound is dropped, cut on a character boundary. */
  append(text: DecodedText): void;
  read(): string;
}

export function createTextStore(maxBytes: number): TextStore {
  return new BoundedTextStore(maxBytes);
}

class BoundedTextStore implements TextStore {
  isFull = false;
  #remainingBytes: number;
  #joined: string[] = [];
  #recent: string[] = [];

  constructor(maxBytes: number) {
    this.#remainingBytes = maxBytes;
  }

  append(decoded: DecodedText): void {
    if (this.isFull) return;
    if (decoded.bytes <= this.#remainingBytes) {
      this.#remainingBytes -= decoded.bytes;
      this.#push(decoded.text);
      return;
    }
    this.isFull = true;
    this.#push(clipUtf8(decoded.text, this.#remainingBytes));
  }

  read(): string {
    const recent = this.#recent.length === 1 ? (this.#recent[0] ?? '') : this.#recent.join('');
    return this.#joined.length === 0 ? recent : this.#joined.join('') + recent;
  }

  #push(text: string): void {
    this.#recent.push(text);
    if (this.#recent.length < PARTS_PER_GROUP) return;
    this.#joined.push(this.#recent.join(''));
    this.#recent = [];
  }
}
