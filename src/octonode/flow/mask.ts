// Secrets out of everything that is shown or kept: whole values, and each longer line of a secret of several lines.

import { createRedaction, type Redaction } from '../../process/process.ts';

/** Shorter lines of a secret are too common to be masked on their own. */
const MIN_LINE_CHARACTERS = 8;
const MASK = '[redacted]';

export interface Mask {
  text(text: string): string;
  /** A copy with every text masked; the same value when there are no secrets. */
  value<T>(value: T): T;
  /** For one stream of bytes, wherever its chunks are cut; undefined when there are no secrets. */
  createFilter(): ReturnType<Redaction['createFilter']> | undefined;
}

export function createMask(secrets: readonly string[]): Mask {
  if (secrets.length === 0)
    return { text: (text) => text, value: (value) => value, createFilter: () => undefined };
  const lines = secrets
    .flatMap((secret) => secret.split(/\r?\n/))
    .filter((line) => line.length >= MIN_LINE_CHARACTERS);
  const redaction = createRedaction([...secrets, ...lines]);
  const whole = new Set(secrets);
  const text = (given: string): string => redaction.redactText(given);
  const mask = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number' || typeof value === 'boolean')
      return whole.has(String(value)) ? MASK : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(mask);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [text(key), mask(part)]));
  };
  return {
    text,
    createFilter: () => redaction.createFilter(),
    value<T>(value: T): T {
      try {
        // The shape is kept: only texts change, and what equals a secret.
        return mask(value) as T;
      } catch {
        // Nested too deeply to be walked: nothing of it can be shown.
        return MASK as T;
      }
    },
  };
}
