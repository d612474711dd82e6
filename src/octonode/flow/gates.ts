// Who may run now: at most `jobs` items at once, and of those with the same key no more than their limit. First come,
// first served, and an item that waits for its key holds back nobody else.

export interface Gates<T> {
  /** Starts it at once or when there is a place. */
  add(item: T): void;
  /** It runs no more; the next that fits is started. */
  release(item: T): void;
  isRunning(item: T): boolean;
  /** Forgets everything that waits. */
  clear(): void;
}

interface Rules<T> {
  keyOf(item: T): string;
  limitOf(item: T): number;
  start(item: T): void;
}

export function createGates<T>(jobs: number, { keyOf, limitOf, start }: Rules<T>): Gates<T> {
  const running = new Set<T>();
  /** Admitted by their key: running, or next in `ready`. */
  const admitted = new Map<string, number>();
  const waiting = new Map<string, T[]>();
  let ready: T[] = [];
  let head = 0;
  let isPumping = false;

  function admit(item: T): void {
    const key = keyOf(item);
    const count = admitted.get(key) ?? 0;
    if (count < limitOf(item)) {
      admitted.set(key, count + 1);
      ready.push(item);
      return;
    }
    const queue = waiting.get(key);
    if (queue === undefined) waiting.set(key, [item]);
    else queue.push(item);
  }

  function pump(): void {
    // A start may end at once and come back here: a loop, not a recursion.
    if (isPumping) return;
    isPumping = true;
    while (running.size < jobs && head < ready.length) {
      const item = ready[head];
      head += 1;
      if (item === undefined) continue;
      running.add(item);
      start(item);
    }
    if (head === ready.length) {
      ready = [];
      head = 0;
    }
    isPumping = false;
  }

  return {
    add(item) {
      admit(item);
      pump();
    },
    release(item) {
      const key = keyOf(item);
      running.delete(item);
      admitted.set(key, (admitted.get(key) ?? 1) - 1);
      const next = waiting.get(key)?.shift();
      if (next !== undefined) admit(next);
      pump();
    },
    isRunning: (item) => running.has(item),
    clear() {
      ready = [];
      head = 0;
      waiting.clear();
    },
  };
}
