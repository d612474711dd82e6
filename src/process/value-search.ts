// Finds where any of some literal values occurs in bytes. Native searches do the work: one regular expression over all
// values says whether and from where there is anything, and only then each value is looked for by itself. No byte of a
// payload is visited by our own code, but for a tail as short as the longest value.

/** Half open, in bytes. */
export interface Span {
  start: number;
  end: number;
}

export interface ValueSearch {
  /** Every occurrence, by start; those of one value that overlap are joined. */
  find(input: Buffer): Span[];
  /** How many bytes at the end of `input` are the beginning, and not the whole, of some value. */
  openTailBytes(input: Buffer): number;
}

/** Of each value this much goes into the expression: enough to be rare, short enough to compile at once. */
const MAX_PATTERN_BYTES = 32;

export function createValueSearch(values: readonly string[]): ValueSearch {
  const needles = [...new Set(values)].filter((value) => value !== '').map((value) => Buffer.from(value));
  const prefixes = needles.map(createPrefixMatch);
  const pattern = needles.length === 0 ? undefined : createPattern(needles);
  return {
    find(input) {
      // latin1: one character for each byte, and a copy that costs a hundredth of the search.
      const from = pattern === undefined ? -1 : input.toString('latin1').search(pattern);
      if (from === -1) return [];
      return needles.flatMap((needle) => findValue(input, needle, from)).sort((a, b) => a.start - b.start);
    },
    openTailBytes(input) {
      let longest = 0;
      for (const prefix of prefixes) longest = Math.max(longest, prefix(input));
      return longest;
    },
  };
}

function createPattern(needles: readonly Buffer[]): RegExp {
  const escaped = needles.map((needle) =>
    needle.toString('hex', 0, MAX_PATTERN_BYTES).replaceAll(/../g, String.raw`\x$&`),
  );
  return new RegExp(escaped.join('|'));
}

function findValue(input: Buffer, needle: Buffer, from: number): Span[] {
  const spans: Span[] = [];
  let start = input.indexOf(needle, from);
  while (start !== -1) {
    const end = endOfRun(input, needle, start);
    spans.push({ start, end });
    start = input.indexOf(needle, end);
  }
  return spans;
}

/** Where the occurrence at `start` ends, with those that begin inside it (`aXa` occurs twice in `aXaXa`). */
function endOfRun(input: Buffer, needle: Buffer, start: number): number {
  let end = start + needle.length;
  for (;;) {
    const furtherEnd = input.lastIndexOf(needle, end - 1) + needle.length;
    if (furtherEnd <= end) return end;
    end = furtherEnd;
  }
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
