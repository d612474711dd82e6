// Finds where any of some literal values occurs in bytes. One regular expression over all values does the work in native
// code and says where one may begin; only there are the values themselves compared. No byte of a payload is visited by our own
// code, but for a tail as short as the longest value.

/** Half open, in bytes. */
export interface Span {
  start: number;
  end: number;
}

export interface ValueSearch {
  /** The longest occurrence at each place where one begins, by start. They may overlap. */
  find(input: Buffer): Span[];
  /** How many bytes at the end of `input` are the beginning, and not the whole, of some value. */
  openTailBytes(input: Buffer): number;
}

/** Of each value this much goes into the expression: enough to be rare, short enough to compile at once. */
const MAX_PATTERN_BYTES = 64;

export function createValueSearch(values: readonly string[]): ValueSearch {
  const needles = [...new Set(values)]
    .filter((value) => value !== '')
    .map((value) => Buffer.from(value))
    .sort((a, b) => b.length - a.length);
  const prefixes = needles.map(createPrefixMatch);
  const pattern = createPattern(needles);
  return {
    find(input) {
      const spans: Span[] = [];
      if (pattern === undefined) return spans;
      // latin1: one character for each byte, and a copy that costs a small part of the search.
      const text = input.toString('latin1');
      pattern.lastIndex = 0;
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        const start = match.index;
        const needle = needles.find((candidate) => isAt(input, candidate, start));
        if (needle !== undefined) spans.push({ start, end: start + needle.length });
        pattern.lastIndex = start + 1;
      }
      return spans;
    },
    openTailBytes(input) {
      let longest = 0;
      for (const prefix of prefixes) longest = Math.max(longest, prefix(input));
      return longest;
    },
  };
}

function createPattern(needles: readonly Buffer[]): RegExp | undefined {
  if (needles.length === 0) return undefined;
  const escaped = needles.map((needle) =>
    needle.toString('hex', 0, MAX_PATTERN_BYTES).replaceAll(/../g, String.raw`\x$&`),
  );
  return new RegExp([...new Set(escaped)].join('|'), 'g');
}

function isAt(input: Buffer, needle: Buffer, start: number): boolean {
  const end = start + needle.length;
  return end <= input.length && input.compare(needle, 0, needle.length, start, end) === 0;
}

/** The length of the longest proper prefix of `needle` that the bytes end with (Knuth, Morris and Pratt). */
function createPrefixMatch(needle: Buffer): (input: Buffer) => number {
  /** For each length of a prefix, the longest shorter prefix that it ends with. */
  const borders = new Uint32Array(needle.length + 1);
  const advance = (matched: number, byte: number): number => {
    let length = matched;
    while (length > 0 && needle[length] !== byte) length = borders[length] ?? 0;
    return needle[length] === byte ? length + 1 : 0;
  };
  let border = 0;
  for (let length = 2; length <= needle.length; length += 1) {
    border = advance(border, needle[length - 1] ?? 0);
    borders[length] = border;
  }
  return (input) => {
    let matched = 0;
    for (let at = Math.max(0, input.length - needle.length + 1); at < input.length; at += 1) {
      matched = advance(matched, input[at] ?? 0);
    }
    return matched;
  };
}
