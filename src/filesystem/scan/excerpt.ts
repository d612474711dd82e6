// The text shown for a match: its line, or of a long line a window round the match. Always well-formed.

/** Longest text of one match, in UTF-16 units (spec/gateway.md §7). */
const MAX_EXCERPT_CHARACTERS = 1_000;
/** Bytes before and behind a match that may end up in its text: no UTF-16 unit takes more than three bytes of UTF-8. */
export const EXCERPT_CONTEXT_BYTES = 3 * MAX_EXCERPT_CHARACTERS + 4;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The line round the match when it has up to 1,000 characters; else its first 1,000 when the match is among them; else
 * 1,000 characters with the match in their middle. `lineEnd` is the line feed behind the match, undefined for none in reach.
 */
export function excerpt(
  bytes: Buffer,
  match: { start: number; length: number },
  lineEnd: number | undefined,
): string {
  const reach = Math.max(0, match.start - EXCERPT_CONTEXT_BYTES);
  const lineFeed = match.start === 0 ? -1 : bytes.subarray(reach, match.start).lastIndexOf(LINE_FEED);
  const startsLine = lineFeed >= 0 || reach === 0;
  const from = lineFeed >= 0 ? reach + lineFeed + 1 : reach;
  const before = bytes.toString('utf8', from, match.start);
  const end = textEnd(bytes, match, lineEnd);
  const behind = bytes.toString('utf8', match.start, end);
  const matchCharacters = bytes.toString(
    'utf8',
    match.start,
    Math.min(end, match.start + match.length),
  ).length;
  const skipped = charactersToSkip(before.length, matchCharacters, behind.length, startsLine);
  return wellFormedSlice(before + behind, skipped, skipped + MAX_EXCERPT_CHARACTERS);
}

/** Where the text ends at the latest; the carriage return of a CRLF belongs to the line's end. */
function textEnd(
  bytes: Buffer,
  match: { start: number; length: number },
  lineEnd: number | undefined,
): number {
  const reach = Math.min(bytes.length, match.start + match.length + EXCERPT_CONTEXT_BYTES);
  if (lineEnd === undefined || lineEnd > reach) return reach;
  const endsInCrlf = lineEnd > match.start + match.length && bytes[lineEnd - 1] === CARRIAGE_RETURN;
  return endsInCrlf ? lineEnd - 1 : lineEnd;
}

function charactersToSkip(before: number, match: number, behind: number, startsLine: boolean): number {
  if (startsLine && before + Math.min(match, MAX_EXCERPT_CHARACTERS) <= MAX_EXCERPT_CHARACTERS) return 0;
  const room = Math.max(0, MAX_EXCERPT_CHARACTERS - match);
  const kept = Math.max(Math.floor(room / 2), MAX_EXCERPT_CHARACTERS - behind);
  return Math.max(0, before - kept);
}

function wellFormedSlice(text: string, start: number, end: number): string {
  const from = isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start;
  const to = end < text.length && isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end;
  return text.slice(from, to);
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
