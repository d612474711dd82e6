// Where a page of a text file may end, so that pages decoded one by one join to the text of the whole file.
//
// The rule for bytes that are not UTF-8: each maximal broken part becomes one U+FFFD (WHATWG Encoding, "UTF-8 decoder"),
// exactly as when the whole file is decoded at once. That holds because a page only ever starts at a byte where no
// character is pending: at the start of a character, or inside a run of bytes that belong to none.

/** Bytes that are read beyond the page to know whether its last character is whole: the longest character less one. */
export const LOOKAHEAD_BYTES = 3;

/**
 * How many of `bytes` make the page: at most `maxBytes` and ending on a character boundary. Only when the first character
 * alone is longer than `maxBytes` the page is that character, so that reading always gets ahead. `bytes` holds the page
 * and up to LOOKAHEAD_BYTES more; fewer means that the file ends there.
 */
export function pageLength(bytes: Uint8Array, maxBytes: number): number {
  if (bytes.length <= maxBytes) return bytes.length;
  const lead = lastLead(bytes, maxBytes);
  if (lead === undefined) return maxBytes;
  const end = characterEnd(bytes, lead);
  if (end <= maxBytes) return maxBytes;
  return lead === 0 ? end : lead;
}

/** Whether the page starts with bytes that only continue a character: the offset lies inside one. */
export function startsInsideCharacter(bytes: Uint8Array): boolean {
  return bytes.length > 0 && isContinuation(bytes[0] ?? 0);
}

/** The start of the character that could reach over `end`, looking back no further than a character is long. */
function lastLead(bytes: Uint8Array, end: number): number | undefined {
  for (let at = end - 1; at >= 0 && at >= end - LOOKAHEAD_BYTES; at -= 1) {
    if (!isContinuation(bytes[at] ?? 0)) return at;
  }
  return undefined;
}

/** One past the last byte that belongs to the character at `lead`, be it whole or broken off. */
function characterEnd(bytes: Uint8Array, lead: number): number {
  const limit = Math.min(bytes.length, lead + declaredLength(bytes[lead] ?? 0));
  let end = lead + 1;
  while (end < limit && isContinuation(bytes[end] ?? 0)) end += 1;
  return end;
}

function declaredLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
