// The main process has ended and something in the background holds its pipes: decides when to stop waiting for more output.
// That is after LINGER_SILENCE_MS without any, or LINGER_MAX_MS altogether. Time in which our own reader was held back
// counts for neither, because nobody can tell then whether there is more.

import { LINGER_MAX_MS, LINGER_SILENCE_MS } from '../protocol/defaults.ts';
import type { Clock, Timer } from '../support/clock.ts';

export interface LingerWatch {
  /** Output came. */
  touch(): void;
  pause(): void;
  resume(): void;
  close(): void;
}

export function createLingerWatch(clock: Clock, isPaused: boolean, onLingering: () => void): LingerWatch {
  let watchedMs = 0;
  let touchedAtMs = 0;
  let resumedAtMs = 0;
  let timer: Timer | null = null;

  const wait = (): void => {
    const nowMs = clock.monotonicMs();
    const silenceLeftMs = touchedAtMs + LINGER_SILENCE_MS - nowMs;
    const watchLeftMs = resumedAtMs + LINGER_MAX_MS - watchedMs - nowMs;
    const leftMs = Math.min(silenceLeftMs, watchLeftMs);
    if (leftMs <= 0) onLingering();
    else timer = clock.startTimer(leftMs, wait);
  };
  const resume = (): void => {
    resumedAtMs = clock.monotonicMs();
    touchedAtMs = resumedAtMs;
    wait();
  };
  const close = (): void => {
    timer?.cancel();
    timer = null;
  };

  if (!isPaused) resume();
  return {
    touch() {
      touchedAtMs = clock.monotonicMs();
    },
    pause() {
      if (timer === null) return;
      watchedMs += clock.monotonicMs() - resumedAtMs;
      close();
    },
    resume() {
      if (timer === null) resume();
    },
    close,
  };
}
