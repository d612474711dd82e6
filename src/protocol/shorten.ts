// How much room a text takes inside JSON, and how much of it fits into a given room. Works through slices, so no cut costs
// more than about one pass over what is kept.

/** Slice lengths in UTF-16 units, coarse to fine: each finds its place within sixteen tries of the one before. */
const STEPS_UNITS = [65_536, 4_096, 256, 16, 1];
const QUOTES_BYTES = 2;

/** Bytes of `text` as the content of a JSON string in UTF-8, its quotes not counted. */
export function encodedBytes(text: string): number {
  const [stepUnits = text.length] = STEPS_UNITS;
  let bytes = 0;
  for (let start = 0; start < text.length; ) {
    const end = nextBoundary(text, start + stepUnits);
    bytes += sliceBytes(text, start, end);
    start = end;
  }
  return bytes;
}

/** The longest prefix of `text` that takes at most `maxBytes` inside JSON and splits no character. */
export function cutToEncodedBytes(text: string, maxBytes: number): string {
  let end = 0;
  let roomBytes = maxBytes;
  for (const stepUnits of STEPS_UNITS) {
    while (end < text.length) {
      const next = nextBoundary(text, end + stepUnits);
      const bytes = sliceBytes(text, end, next);
      if (bytes > roomBytes) break;
      roomBytes -= bytes;
      end = next;
    }
  }
  return text.slice(0, end);
}

function sliceBytes(text: string, start: number, end: number): number {
  return Buffer.byteLength(JSON.stringify(text.slice(start, end))) - QUOTES_BYTES;
}

/** `at`, or one further when it lies inside a surrogate pair; never past the end. */
function nextBoundary(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const isInsidePair = isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at));
  return isInsidePair ? at + 1 : at;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
