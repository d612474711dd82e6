// A clock that moves only when a test steps it; its wall time can be set apart.
import type { Clock } from '../../src/support/clock.ts';

export interface SteppedClock extends Clock {
  step(stepMs: number): void;
  setWall(wallMs: number): void;
  readonly pendingTimers: number;
}

export function createSteppedClock(): SteppedClock {
  let nowMs = 0;
  let wallOffsetMs = Date.UTC(2030, 0, 1);
  const timers = new Set<{ atMs: number; callback: () => void }>();
  return {
    wallMs: () => wallOffsetMs + nowMs,
    monotonicMs: () => nowMs,
    startTimer(delayMs, callback) {
      const timer = { atMs: nowMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    step(stepMs) {
      const endMs = nowMs + stepMs;
      for (;;) {
        const [next] = [...timers].filter((timer) => timer.atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        timers.delete(next);
        nowMs = next.atMs;
        next.callback();
      }
      nowMs = endMs;
    },
    setWall(wallMs) {
      wallOffsetMs = wallMs - nowMs;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}
