// What the journal holds, by operation id: the newest `maxEntries` outcomes that are not older than their time.
// Expiry runs on the monotonic clock. Nothing here touches a disk, and no call looks at more than it removes.
import type { Clock } from '../../support/clock.ts';
import type { Location } from './segment.ts';

/** One completed outcome: as text while it is only in memory, as a location once it is on disk. */
export interface Entry {
  readonly id: string;
  readonly requestDigest: string;
  readonly expiresAtMonotonicMs: number;
  text: string | undefined;
  location: Location | undefined;
}

export class EntryIndex {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  /** In the order of completion, so the first to expire comes first. */
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, maxEntries: number) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  get(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.expiresAtMonotonicMs > this.#clock.monotonicMs()) return entry;
    this.#entries.delete(id);
    return undefined;
  }

  /** Replaces an entry of the same id; the oldest entry leaves when there is no room. */
  add(entry: Entry): void {
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
    this.#prune();
  }

  /** Whether the entry is still held; a replaced, evicted or expired one is not. */
  has(entry: Entry): boolean {
    return this.get(entry.id) === entry;
  }

  remove(entry: Entry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }

  /** Takes in what a start found on disk. An outcome that is only in memory is newer and stays. */
  merge(found: Entry[]): void {
    for (const entry of found) {
      if (this.#entries.get(entry.id)?.text === undefined) this.#entries.set(entry.id, entry);
    }
    const sorted = [...this.#entries.values()].sort(
      (a, b) => a.expiresAtMonotonicMs - b.expiresAtMonotonicMs,
    );
    this.#entries.clear();
    for (const entry of sorted) this.#entries.set(entry.id, entry);
    this.#prune();
  }

  /** All live entries, oldest first. */
  live(): Entry[] {
    this.#prune();
    return [...this.#entries.values()];
  }

  /** Bytes on disk that are still of use. */
  liveBytes(): number {
    return this.live().reduce((sum, { location }) => sum + (location?.lengthBytes ?? 0), 0);
  }

  /** Whether something is only in memory. */
  hasUnwritten(): boolean {
    return this.live().some(({ text }) => text !== undefined);
  }

  get size(): number {
    this.#prune();
    return this.#entries.size;
  }

  #prune(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const entry of this.#entries.values()) {
      if (this.#entries.size <= this.#maxEntries && entry.expiresAtMonotonicMs > nowMs) return;
      this.#entries.delete(entry.id);
    }
  }
}
