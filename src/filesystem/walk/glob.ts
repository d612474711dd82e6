// Globs of the contract: `*` and `?` stop at `/`, `**` does not, `**/` also matches nothing. Everything else, brackets,
// braces, backslashes and parentheses included, is the character itself. Matching is case-sensitive and takes the whole
// path. It runs all open positions of the pattern side by side, so no pattern can make it slow: the work is bounded by
// the length of the pattern times the length of the path.

/** Longest pattern taken; a path of the system is no longer either. */
export const MAX_PATTERN_CHARACTERS = 4_096;

// A pattern is a row of these; a number from 0 is a code point that stands for itself.
const ANY = -1;
const STAR = -2;
const GLOBSTAR = -3;
/** The two halves of a globstar with its slash: the choice to leave out the whole, then anything up to a slash. */
const OPTIONAL = -4;
const THROUGH_SLASH = -5;

const SLASH = 0x2f;

/** A test for relative paths. A character is a Unicode code point, so that `?` matches one emoji. */
export function createGlob(pattern: string): (path: string) => boolean {
  const tokens = tokenize(pattern);
  const tail = /[^*?]*$/.exec(pattern)?.[0] ?? '';
  if (tail === pattern) return (path) => path === pattern;
  // The tail sorts out most paths of a tree before any position is followed. A slash right behind a globstar is part of it.
  const end = pattern.endsWith(`**${tail}`) ? tail.replace(/^\//, '') : tail;
  return (path) => path.endsWith(end) && matches(tokens, path);
}

function tokenize(pattern: string): number[] {
  const tokens: number[] = [];
  for (const [part = ''] of pattern.matchAll(/\*\*\/|\*\*|\*|\?|./gsu)) {
    if (part === '**/') tokens.push(OPTIONAL, THROUGH_SLASH);
    else if (part === '**') tokens.push(GLOBSTAR);
    else if (part === '*') tokens.push(STAR);
    else tokens.push(part === '?' ? ANY : (part.codePointAt(0) ?? 0));
  }
  return tokens;
}

function matches(tokens: readonly number[], path: string): boolean {
  let open = new Uint8Array(tokens.length + 2);
  let after = new Uint8Array(tokens.length + 2);
  open[0] = 1;
  openBehindEmpty(tokens, open);
  for (const character of path) {
    after.fill(0);
    if (!advance(tokens, character.codePointAt(0) ?? 0, { open, after })) return false;
    openBehindEmpty(tokens, after);
    [open, after] = [after, open];
  }
  return open[tokens.length] === 1;
}

/** Marks in `after` where each open position stands once the character is taken; false when none is left. */
function advance(
  tokens: readonly number[],
  character: number,
  { open, after }: { open: Uint8Array; after: Uint8Array },
): boolean {
  let alive = false;
  for (let at = 0; at < tokens.length; at += 1) {
    if (open[at] === 0) continue;
    const token = tokens[at] ?? 0;
    const stays = token === STAR ? character !== SLASH : token === GLOBSTAR || token === THROUGH_SLASH;
    const moves =
      token === character ||
      (token === ANY && character !== SLASH) ||
      (token === THROUGH_SLASH && character === SLASH);
    if (stays) after[at] = 1;
    if (moves) after[at + 1] = 1;
    alive ||= stays || moves;
  }
  return alive;
}

/** Opens what stands behind each open token that may match nothing, or nothing more. */
function openBehindEmpty(tokens: readonly number[], open: Uint8Array): void {
  for (let at = 0; at < tokens.length; at += 1) {
    if (open[at] === 0) continue;
    const token = tokens[at];
    if (token === STAR || token === GLOBSTAR) open[at + 1] = 1;
    if (token === OPTIONAL) open.fill(1, at + 1, at + 3);
  }
}
