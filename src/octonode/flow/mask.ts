// Secrets out of everything that is shown or kept: whole values, and each longer line of a secret of several lines. The
// words that burrow itself fixed (names of fields, codes) stay what they are: they are public, and programs look for them.

import { createRedaction, type Redaction } from '../../process/process.ts';
import { OWN_DETAIL_KEYS } from '../octonode.ts';
import type { NodeFailure } from './record.ts';

/** Shorter lines of a secret are too common to be masked on their own. */
const MIN_LINE_CHARACTERS = 8;
const MASK = '[redacted]';

export interface Mask {
  text(text: string): string;
  /** For what a node or a person made: a copy with every text masked, also keys; the same value when there are no secrets. */
  value<T>(value: T): T;
  /** A copy in which the fields of a failure keep their names, `code` and `retryable` also their values. */
  failure(failure: NodeFailure): NodeFailure;
  /** For one stream of bytes, wherever its chunks are cut; undefined when there are no secrets. */
  createFilter(): ReturnType<Redaction['createFilter']> | undefined;
}

export function createMask(secrets: readonly string[]): Mask {
  if (secrets.length === 0)
    return {
      text: (text) => text,
      value: (value) => value,
      failure: (failure) => failure,
      createFilter: () => undefined,
    };
  const lines = secrets
    .flatMap((secret) => secret.split(/\r?\n/))
    .filter((line) => line.length >= MIN_LINE_CHARACTERS);
  const redaction = createRedaction([...secrets, ...lines]);
  const whole = new Set(secrets);
  const text = (given: string): string => redaction.redactText(given);
  const mask = (value: unknown, ownKeys?: ReadonlySet<string>): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number' || typeof value === 'boolean')
      return whole.has(String(value)) ? MASK : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((part) => mask(part, ownKeys));
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, part]) => [
        ownKeys?.has(key) === true ? key : text(key),
        mask(part, key === 'errors' ? ownKeys : undefined),
      ]),
    );
  };
  const shown = (value: unknown, ownKeys?: ReadonlySet<string>): unknown => {
    try {
      return mask(value, ownKeys);
    } catch {
      // Nested too deeply to be walked: nothing of it can be shown.
      return MASK;
    }
  };
  return {
    text,
    createFilter: () => redaction.createFilter(),
    // The shape is kept: only texts change, and what equals a secret.
    value: <T>(value: T) => shown(value) as T,
    failure: (failure) => maskFailure(failure, text, shown),
  };
}

/** Field by field: one that cannot be shown takes no other with it. */
function maskFailure(
  { code, message, retryable, details, stack, ...others }: NodeFailure,
  text: (text: string) => string,
  shown: (value: unknown, ownKeys?: ReadonlySet<string>) => unknown,
): NodeFailure {
  return {
    ...Object.fromEntries(Object.entries(others).map(([key, part]) => [text(key), shown(part)])),
    code,
    message: text(message),
    retryable,
    ...(details === undefined ? {} : { details: shown(details, OWN_DETAIL_KEYS) }),
    ...(stack === undefined ? {} : { stack: text(stack) }),
  };
}
