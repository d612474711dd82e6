// Calls that wait for a place in the worker, first come first served. Adding, taking, removing and looking up an id
// cost the same however many wait.

import type { WorkerCall } from './worker-process.ts';

const MIN_COMPACTION = 1_024;

export class CallQueue {
  readonly #byId = new Map<string, WorkerCall>();
  #calls: WorkerCall[] = [];
  #head = 0;

  get size(): number {
    return this.#byId.size;
  }

  has(invocationId: string): boolean {
    return this.#byId.has(invocationId);
  }

  /** The id must not be in the queue. */
  add(call: WorkerCall): void {
    this.#byId.set(call.asked.invocationId, call);
    this.#calls.push(call);
    if (this.#calls.length > MIN_COMPACTION && this.#calls.length > this.size * 2) this.#compact();
  }

  take(): WorkerCall | undefined {
    while (this.#head < this.#calls.length) {
      const call = this.#calls[this.#head];
      this.#head += 1;
      if (call !== undefined && this.remove(call)) return call;
    }
    this.#calls = [];
    this.#head = 0;
    return undefined;
  }

  /** False when it was not there. */
  remove(call: WorkerCall): boolean {
    const { invocationId } = call.asked;
    return this.#byId.get(invocationId) === call && this.#byId.delete(invocationId);
  }

  all(): WorkerCall[] {
    return [...this.#byId.values()];
  }

  #compact(): void {
    this.#calls = this.all();
    this.#head = 0;
  }
}
