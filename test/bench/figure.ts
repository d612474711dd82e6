// One figure of the record: a ratio measured against a floor in the same run, or an amount of memory.

export interface Figure {
  name: string;
  value: number;
  unit: '×' | 'MiB';
  /** The value must be at least (`min`) or at most (`max`) this. */
  limit: { kind: 'min' | 'max'; value: number };
  /** What was measured on both sides, for a person. */
  detail: string;
}

/** A set of figures that are measured together. */
export interface Bench {
  name: string;
  run(): Promise<Figure[]>;
}

export function holds(figure: Figure): boolean {
  return figure.limit.kind === 'min'
    ? figure.value >= figure.limit.value
    : figure.value <= figure.limit.value;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Runs both sides in turn (A B, B A, A B, …) so that a drift of the machine hits them alike; answers the medians of
 * each and of the ratio pair by pair. The first pair is a warm-up and does not count.
 */
export async function compare(
  rounds: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ a: number; b: number; ratio: number }> {
  const pairs: { a: number; b: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const firstA = round % 2 === 0 ? await a() : undefined;
    const valueB = await b();
    const valueA = firstA ?? (await a());
    if (round > 0) pairs.push({ a: valueA, b: valueB });
  }
  return {
    a: median(pairs.map((pair) => pair.a)),
    b: median(pairs.map((pair) => pair.b)),
    ratio: median(pairs.map((pair) => pair.a / pair.b)),
  };
}
