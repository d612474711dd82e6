// What a journal on disk holds: each outcome as text while it is only in memory, as a location once it is on disk.
import type { Clock } from '../../support/clock.ts';
import { type HeldOutcome, OutcomeIndex } from './outcome-index.ts';
import type { Location, Segment } from './segment.ts';

export interface Entry extends HeldOutcome {
  text: string | undefined;
  location: Location | undefined;
}

export class EntryIndex extends OutcomeIndex<Entry> {
  constructor(clock: Clock, maxEntries: number) {
    super(clock, { maxEntries });
  }

  /** Takes in what a start found on disk. An outcome that is only in memory is newer and stays. */
  override merge(found: readonly Entry[]): void {
    const unwritten = new Set(
      this.live()
        .filter(({ text }) => text !== undefined)
        .map(({ id }) => id),
    );
    super.merge(found.filter(({ id }) => !unwritten.has(id)));
  }

  /** Bytes on disk that are still of use. */
  liveBytes(): number {
    return this.live().reduce((sum, { location }) => sum + (location?.lengthBytes ?? 0), 0);
  }

  /** Whether something on disk lies in none of `segments`. */
  hasEntriesOutside(segments: readonly Segment[]): boolean {
    return this.live().some(({ location }) => location !== undefined && !segments.includes(location.segment));
  }

  /** Whether something is only in memory. */
  hasUnwritten(): boolean {
    return this.live().some(({ text }) => text !== undefined);
  }
}
