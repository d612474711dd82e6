// Literal values out of a byte stream, before anything else sees it. Promises: every occurrence of every value becomes the
// mask, wherever chunks are cut; occurrences that overlap become one mask; the mask itself is never looked at again; and
// output is held back only while it could still be the beginning of a value. It never masks a part of a value, and
// transformed values (encoded, escaped, split) are not found.

import type { ByteFilter } from './capture.ts';
import { createValueSearch, type ValueSearch } from './value-search.ts';

const MASK = '[redacted]';

const MASK_BYTES = Buffer.from(MASK);
const NOTHING = Buffer.alloc(0);

export interface Redaction {
  /** One for each stream: what one stream holds back has nothing to do with another. */
  createFilter(): ByteFilter;
  redactText(text: string): string;
}

/** `values` in any order; those that are empty or given twice count once or not at all. */
export function createRedaction(values: readonly string[]): Redaction {
  const search = createValueSearch(values);
  const createFilter = (): ByteFilter => new RedactionFilter(search);
  return {
    createFilter,
    redactText(text) {
      const filter = createFilter();
      return filter.push(Buffer.from(text)).toString() + filter.end().toString();
    },
  };
}

/** Holds at most the bytes of the longest value, less one. */
class RedactionFilter implements ByteFilter {
  readonly #search: ValueSearch;
  #held: Buffer = NOTHING;
  /** The beginning of what is held belongs to a mask that was written already. */
  #maskedBytes = 0;

  constructor(search: ValueSearch) {
    this.#search = search;
  }

  push(chunk: Buffer): Buffer {
    const input = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    return this.#write(input, input.length - this.#search.openTailBytes(input));
  }

  end(): Buffer {
    return this.#write(this.#held, this.#held.length);
  }

  /** What is certain up to `end`; the rest is held. */
  #write(input: Buffer, end: number): Buffer {
    const spans = this.#search.find(input);
    const masked = this.#maskedBytes;
    // A copy: the few bytes held must not keep a chunk in memory.
    this.#held = end === input.length ? NOTHING : Buffer.from(input.subarray(end));
    this.#maskedBytes = 0;
    if (spans.length === 0 && masked === 0) return end === input.length ? input : input.subarray(0, end);

    const parts: Buffer[] = [];
    let written = masked;
    for (const span of spans) {
      if (span.start >= written) {
        // It may yet prove to be the tail of a longer value that begins where holding begins: found again next time.
        if (span.start >= end) break;
        parts.push(input.subarray(written, span.start), MASK_BYTES);
      }
      written = Math.max(written, span.end);
    }
    if (written < end) parts.push(input.subarray(written, end));
    this.#maskedBytes = Math.max(0, written - end);
    return Buffer.concat(parts);
  }
}
