// The pieces of which the tools' argument schemas are made. The arguments often come from a language model:
// numbers written as strings are read as numbers, and a bound that makes no sense means the default.

import * as v from 'valibot';

/** The message of an argument that is not there. */
export const MISSING = 'Is missing';
const OFFSET = `Give a whole number of bytes from 0 to ${Number.MAX_SAFE_INTEGER}`;

/** The arguments of one tool; those it does not know are ignored. */
export function argumentsObject<Entries extends v.ObjectEntries>(entries: Entries) {
  // The library's type for an argument that is not there is the object's too.
  return v.object(entries, ({ path }) => (path === undefined ? 'Give the arguments as an object' : MISSING));
}

/** A path: a string that is not empty, holds no zero byte and can be written as UTF-8. */
export const PathSchema = v.pipe(
  v.string('Give a path as a string'),
  v.nonEmpty('Give a path that is not empty'),
  v.check((path) => !path.includes('\0'), 'A path cannot hold a zero byte'),
  v.check((path) => path.isWellFormed(), 'A path with a lone surrogate cannot be written as UTF-8'),
);

/** Text that becomes bytes of a file. A lone surrogate has no UTF-8 form; writing U+FFFD instead would lose it silently. */
export const FileTextSchema = v.pipe(
  v.string('Give text as a string'),
  v.check((text) => text.isWellFormed(), 'Text with a lone surrogate cannot be written as UTF-8'),
);

/** Echoed in the outcome, never a boundary. */
export const WorkspaceRootSchema = v.pipe(
  v.unknown(),
  v.transform((given) => (typeof given === 'string' && given !== '' ? given : null)),
);

/** Text such as a query or a pattern; a number or a boolean is taken as it is written, anything else as absent. */
export function plainText(fallback: string) {
  return v.pipe(
    v.unknown(),
    v.transform((given) => {
      if (typeof given === 'string') return given === '' ? fallback : given;
      return typeof given === 'number' || typeof given === 'boolean' ? String(given) : fallback;
    }),
  );
}

/** A positive whole number up to `maximum`; larger means `maximum`, everything else means `fallback`. */
export function bound(fallback: number, maximum = Number.MAX_SAFE_INTEGER) {
  return v.pipe(
    v.unknown(),
    v.transform((given) => Math.min(positiveInteger(given) ?? fallback, maximum)),
  );
}

/**
 * A whole number from 0, also as a string; null and an empty string mean 0. Anything else is refused: reading from the beginning
 * instead would give a caller who pages through a file the same page again. Beyond 2^53 a number is not exact, nor any file so long.
 */
export const OffsetSchema = v.pipe(
  v.unknown(),
  v.transform((given) => (given === null || given === undefined || given === '' ? 0 : given)),
  v.transform((given) => (typeof given === 'string' ? Number(given) : given)),
  v.number(OFFSET),
  v.safeInteger(OFFSET),
  v.minValue(0, OFFSET),
  // Not -0.
  v.transform((given) => given + 0),
);

/** The number meant by `given`, or undefined when it is absent, not a whole number, or not positive. */
export function positiveInteger(given: unknown): number | undefined {
  if (typeof given !== 'number' && typeof given !== 'string') return undefined;
  const number = Number(given);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
