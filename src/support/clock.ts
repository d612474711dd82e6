// Time, handed in wherever something waits or records: wall time for records, monotonic time for durations.

/** A pending timer. `cancel()` may be called any number of times, also after the timer fired. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch; moves when the host's time is set. For records and absolute deadlines only. */
  wallMs(): number;
  /** Milliseconds from an arbitrary start; never moves backwards. For durations. */
  monotonicMs(): number;
  /**
   * Calls `callback` once, `delayMs` from now on the monotonic clock. Delays beyond a native timer's range
   * (2^31 - 1 ms) wait as long as they say. `background` timers do not keep the process alive.
   */
  startTimer(delayMs: number, callback: () => void, options?: { background?: boolean }): Timer;
}

/** The native limit of setTimeout: a longer delay fires at once instead (Node.js documentation, timers). */
const MAX_NATIVE_DELAY_MS = 2_147_483_647;

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  startTimer(delayMs, callback, options) {
    let handle: NodeJS.Timeout;
    const arm = (remainingMs: number): void => {
      const stepMs = Math.min(remainingMs, MAX_NATIVE_DELAY_MS);
      handle = setTimeout(() => {
        if (remainingMs > stepMs) arm(remainingMs - stepMs);
        else callback();
      }, stepMs);
      if (options?.background === true) handle.unref();
    };
    arm(Math.max(0, delayMs));
    return { cancel: () => clearTimeout(handle) };
  },
};
