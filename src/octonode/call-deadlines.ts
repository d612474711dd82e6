// One timer for the deadlines of many calls. It is armed for the earliest and left alone when that call is answered, so
// that a call costs no timer of its own; when it fires early, it is set anew.

import type { Clock, Timer } from '../support/clock.ts';

export class CallDeadlines {
  readonly #clock: Clock;
  readonly #expire: (nowMs: number) => number | undefined;
  #timer: Timer | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;

  /** `expire` is called at a deadline and answers the next one, on the monotonic clock. */
  constructor(clock: Clock, expire: (nowMs: number) => number | undefined) {
    this.#clock = clock;
    this.#expire = expire;
  }

  watch(deadlineAtMs: number): void {
    if (deadlineAtMs >= this.#armedForMs) return;
    this.#timer?.cancel();
    this.#armedForMs = deadlineAtMs;
    // The pipes of the worker keep this process alive while a call waits; an old timer must not.
    this.#timer = this.#clock.startTimer(deadlineAtMs - this.#clock.monotonicMs(), () => this.#fire(), {
      background: true,
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#armedForMs = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    this.#armedForMs = Number.POSITIVE_INFINITY;
    const nextMs = this.#expire(this.#clock.monotonicMs());
    if (nextMs !== undefined) this.watch(nextMs);
  }
}
