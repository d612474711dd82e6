// Where a page of a text file may end, so that pages decoded one by one join to the text of the whole file.
//
// The rule for bytes that are not UTF-8: each maximal broken part becomes one U+FFFD (WHATWG Encoding, "UTF-8 decoder"),
// exactly as when the whole file is decoded at once. That holds because no page ends where a character may go on.

import { incompleteTailLength, utf8PrefixLength } from '../support/utf8.ts';

/** Bytes that are read beyond the page, so that a first character longer than the page can be taken whole. */
export const LOOKAHEAD_BYTES = 3;

/**
 * How many of `bytes` make the page: at most `maxBytes` and ending on a character boundary. Only when the first character
 * alone is longer than `maxBytes` the page is that character, so that reading always gets ahead. `bytes` holds the page
 * and up to LOOKAHEAD_BYTES more; fewer means that the file ends there.
 */
export function pageLength(bytes: Buffer, maxBytes: number): number {
  let length = utf8PrefixLength(bytes, maxBytes);
  if (length > 0) return length;
  do length += 1;
  while (isContinuation(bytes[length]) && incompleteTailLength(bytes.subarray(0, length)) > 0);
  return Math.min(length, bytes.length);
}

/** Whether the page starts with a byte that only continues a character: the offset lies inside one. */
export function startsInsideCharacter(bytes: Buffer): boolean {
  return isContinuation(bytes[0]);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
