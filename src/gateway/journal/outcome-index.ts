// Completed outcomes by operation id: the newest `maxEntries` that are not older than their time. Expiry runs on the
// monotonic clock. Nothing here touches a disk, and no call looks at more than it removes.
import type { Clock } from '../../support/clock.ts';

export interface HeldOutcome {
  readonly id: string;
  readonly requestDigest: string;
  readonly expiresAtMonotonicMs: number;
}

export interface OutcomeIndexOptions<Outcome> {
  maxEntries: number;
  /** Called once for each outcome that expires, is replaced or has to make room. */
  onLeave?: (outcome: Outcome) => void;
}

export class OutcomeIndex<Outcome extends HeldOutcome> {
  readonly #clock: Clock;
  readonly #options: OutcomeIndexOptions<Outcome>;
  /** In the order of completion, so the first to expire comes first. */
  readonly #outcomes = new Map<string, Outcome>();

  constructor(clock: Clock, options: OutcomeIndexOptions<Outcome>) {
    this.#clock = clock;
    this.#options = options;
  }

  get(id: string): Outcome | undefined {
    const outcome = this.#outcomes.get(id);
    if (outcome === undefined || outcome.expiresAtMonotonicMs > this.#clock.monotonicMs()) return outcome;
    this.remove(outcome);
    return undefined;
  }

  /** Replaces an outcome of the same id; the oldest one leaves when there is no room. */
  add(outcome: Outcome): void {
    const former = this.#outcomes.get(outcome.id);
    if (former !== undefined) this.remove(former);
    this.#outcomes.set(outcome.id, outcome);
    this.#prune();
  }

  /** Whether the outcome is still held; a replaced, evicted or expired one is not. */
  has(outcome: Outcome): boolean {
    return this.get(outcome.id) === outcome;
  }

  remove(outcome: Outcome): void {
    if (this.#outcomes.get(outcome.id) !== outcome) return;
    this.#outcomes.delete(outcome.id);
    this.#options.onLeave?.(outcome);
  }

  /** Adds outcomes of any age, and puts all in the order of their expiry. */
  merge(found: readonly Outcome[]): void {
    const sorted = [
      ...new Map([...this.#outcomes, ...found.map((each) => [each.id, each] as const)]).values(),
    ];
    sorted.sort((a, b) => a.expiresAtMonotonicMs - b.expiresAtMonotonicMs);
    this.#outcomes.clear();
    for (const outcome of sorted) this.#outcomes.set(outcome.id, outcome);
    this.#prune();
  }

  /** All live outcomes, oldest first. */
  live(): Outcome[] {
    this.#prune();
    return [...this.#outcomes.values()];
  }

  get size(): number {
    this.#prune();
    return this.#outcomes.size;
  }

  #prune(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const outcome of this.#outcomes.values()) {
      const isSpare = this.#outcomes.size > this.#options.maxEntries;
      if (!isSpare && outcome.expiresAtMonotonicMs > nowMs) return;
      this.remove(outcome);
    }
  }
}
