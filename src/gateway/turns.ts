// Turns for work that keeps its whole answer in memory: so many at once, the others wait in order. A peer that does not
// read gets no new turn, so the answers that wait for it stay few.

export interface Turns {
  /**
   * Calls `run` when a turn is free; the turn ends with its promise, which never rejects. The answer holds the work back
   * (it only counts while it waits) or hurries it: a cancelled piece of work does not wait for its turn.
   */
  take(run: () => Promise<void>): Turn;
}

export interface Turn {
  hold(held: boolean): void;
  /** Starts at once, whatever else runs. Nothing happens when it has started. */
  hurry(): void;
}

interface Waiting {
  run: () => Promise<void>;
  held: boolean;
}

export function createTurns(maxAtOnce: number): Turns {
  const waiting = new Set<Waiting>();
  let running = 0;

  const start = (entry: Waiting): void => {
    waiting.delete(entry);
    running += 1;
    void entry.run().finally(() => {
      running -= 1;
      startNext();
    });
  };
  const startNext = (): void => {
    for (const entry of waiting) {
      if (running >= maxAtOnce) return;
      if (!entry.held) start(entry);
    }
  };

  return {
    take(run) {
      const entry: Waiting = { run, held: false };
      waiting.add(entry);
      // Not within this call: a piece of work that is held back from its beginning must not have begun.
      queueMicrotask(startNext);
      return {
        hold(held) {
          entry.held = held;
          if (!held) startNext();
        },
        hurry() {
          if (waiting.has(entry)) start(entry);
        },
      };
    },
  };
}
