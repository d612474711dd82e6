// Durations and sizes as people write them: `500ms`, `30s`, `5m`, `64KiB`, `1MiB`.

const DURATION_UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZE_UNITS_BYTES: Record<string, number> = {
  '': 1,
  B: 1,
  K: 1024,
  KiB: 1024,
  kB: 1_000,
  KB: 1_000,
  M: 1024 ** 2,
  MiB: 1024 ** 2,
  MB: 1_000_000,
  G: 1024 ** 3,
  GiB: 1024 ** 3,
  GB: 1_000_000_000,
};

/** What the product of a decimal fraction (`1.001KB`) may miss a whole number by, as a share of it. */
const MAX_ROUNDING = 4 * Number.EPSILON;

/** Milliseconds, a positive integer, rounded; undefined when `text` is not a duration such as `500ms`, `1.5s` or `2h`. A bare number counts seconds, as in timeout(1). */
export function parseDurationMs(text: string): number | undefined {
  return wholeQuantity(parseQuantity(text, { ...DURATION_UNITS_MS, '': 1_000 }), 1);
}

/** Bytes, a positive integer; undefined when `text` is not a size such as `4096`, `64KiB` or `1.5MiB`, or makes no whole number of bytes (`1.5`, `0.3KiB`). */
export function parseSizeBytes(text: string): number | undefined {
  return wholeQuantity(parseQuantity(text, SIZE_UNITS_BYTES), MAX_ROUNDING);
}

/** `1.50 s`, `12 ms`: short enough for one line of a summary. */
export function formatDurationMs(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(2)} s`;
  return `${Math.floor(durationMs / 60_000)} min ${Math.round((durationMs % 60_000) / 1_000)} s`;
}

/** `512 B`, `64.0 KiB`, `1.5 MiB`. */
export function formatSizeBytes(sizeBytes: number): string {
  if (sizeBytes < 1024) return `${sizeBytes} B`;
  if (sizeBytes < 1024 ** 2) return `${(sizeBytes / 1024).toFixed(1)} KiB`;
  return `${(sizeBytes / 1024 ** 2).toFixed(1)} MiB`;
}

function parseQuantity(text: string, units: Record<string, number>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text.trim());
  if (match === null) return undefined;
  const unit = Object.hasOwn(units, match[2] ?? '') ? units[match[2] ?? ''] : undefined;
  if (unit === undefined) return undefined;
  return Number(match[1]) * unit;
}

/** `mayMiss`: the share of it by which it may miss a whole number. */
function wholeQuantity(exact: number | undefined, mayMiss: number): number | undefined {
  if (exact === undefined) return undefined;
  const quantity = Math.round(exact);
  if (Math.abs(exact - quantity) > exact * mayMiss) return undefined;
  return Number.isSafeInteger(quantity) && quantity > 0 ? quantity : undefined;
}
