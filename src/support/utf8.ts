// Where UTF-8 may be cut. Works on bytes with a look at no more than the last few of them; never walks a payload.

const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;

/**
 * The largest length ≤ `maxBytes` at which `bytes` can be cut without splitting a character. All of `bytes` when it fits.
 * Bytes that are not UTF-8 are cut at `maxBytes`: there is no character to keep whole.
 */
export function utf8PrefixLength(bytes: Buffer, maxBytes: number): number {
  if (maxBytes <= 0) return 0;
  if (bytes.length <= maxBytes) return bytes.length;
  return maxBytes - incompleteTailLength(bytes.subarray(Math.max(0, maxBytes - 3), maxBytes));
}

/**
 * How many bytes (0 to 3) at the end of `bytes` begin a character that the next bytes may finish. Bytes that no
 * continuation can make valid (a stray continuation, an overlong form, a surrogate) count as 0: they are broken, not unfinished.
 */
export function incompleteTailLength(bytes: Buffer): number {
  const end = bytes.length;
  for (let tail = 1; tail <= 3 && tail <= end; tail += 1) {
    const byte = bytes[end - tail] ?? 0;
    if ((byte & CONTINUATION_MASK) === CONTINUATION) continue;
    if (tail >= sequenceLength(byte)) return 0;
    return tail === 1 || isSecondByte(byte, bytes[end - tail + 1] ?? 0) ? tail : 0;
  }
  return 0;
}

/** `text` cut to at most `maxBytes` of UTF-8 on a character boundary; lone surrogates become U+FFFD. */
export function clipUtf8(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes, so short text needs no count, and at least one, so the rest needs no look.
  if (text.length * 3 <= maxBytes) return text.toWellFormed();
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (text.length <= maxBytes && bytes.length <= maxBytes) return text.toWellFormed();
  return bytes.toString('utf8', 0, utf8PrefixLength(bytes, maxBytes));
}

/** Bytes of a character by its first byte; 0 for bytes that begin none (Unicode 16, table 3-7). */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

function isSecondByte(first: number, second: number): boolean {
  if (first === 0xe0) return second >= 0xa0;
  if (first === 0xed) return second <= 0x9f;
  if (first === 0xf0) return second >= 0x90;
  if (first === 0xf4) return second <= 0x8f;
  return true;
}
