// Long work in slices: the event loop gets its turn every few milliseconds, so other operations go on and a cancel is seen.

import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../support/clock.ts';

/** Longest stretch of work without a turn for others. A cancel is honoured well within the contract's 100 ms. */
const SLICE_MS = 8;

export interface Slices {
  /** To be awaited between two pieces of work. Throws the signal's reason when it is aborted. */
  pass(): Promise<void> | undefined;
}

export function createSlices(clock: Clock, signal: AbortSignal): Slices {
  let startMs = clock.monotonicMs();

  async function giveTurn(): Promise<void> {
    await setImmediate();
    signal.throwIfAborted();
    startMs = clock.monotonicMs();
  }

  return {
    pass() {
      signal.throwIfAborted();
      return clock.monotonicMs() - startMs > SLICE_MS ? giveTurn() : undefined;
    },
  };
}
