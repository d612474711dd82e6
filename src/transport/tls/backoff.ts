// How long to wait before the next try: doubling from a first delay to a longest one, each shortened at random so that many
// hosts that lost the same controller do not come back together.

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** The least part of a delay that chance leaves. */
const MIN_PART = 0.1;

export interface Backoff {
  /** 10 to 100 ms at first, 500 to 5,000 ms in the end. */
  nextDelayMs(): number;
  reset(): void;
}

/** `random` answers from 0 to 1, as Math.random. */
export function createBackoff(random: () => number): Backoff {
  let limitMs = FIRST_DELAY_MS;
  return {
    nextDelayMs() {
      const delayMs = limitMs * (MIN_PART + (1 - MIN_PART) * random());
      limitMs = Math.min(limitMs * 2, MAX_DELAY_MS);
      return Math.round(delayMs);
    },
    reset() {
      limitMs = FIRST_DELAY_MS;
    },
  };
}
