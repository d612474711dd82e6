import { describe, expect, it } from 'vitest';
import { createLingerWatch } from '../../src/process/linger-watch.ts';
import { LINGER_MAX_MS, LINGER_SILENCE_MS } from '../../src/protocol/defaults.ts';
import { createSteppedClock } from './stepped-clock.ts';

function watch(isPaused = false) {
  const clock = createSteppedClock();
  const ends: number[] = [];
  const it = createLingerWatch(clock, isPaused, () => ends.push(clock.monotonicMs()));
  return { clock, it, ends };
}

describe('createLingerWatch()', () => {
  it('ends after the silence', () => {
    const { clock, ends } = watch();
    clock.step(LINGER_SILENCE_MS - 1);
    expect(ends).toEqual([]);
    clock.step(1);
    expect(ends).toEqual([LINGER_SILENCE_MS]);
  });

  it('counts silence from the last output', () => {
    const { clock, it, ends } = watch();
    clock.step(400);
    it.touch();
    clock.step(LINGER_SILENCE_MS - 1);
    expect(ends).toEqual([]);
    clock.step(1);
    expect(ends).toEqual([400 + LINGER_SILENCE_MS]);
  });

  it('ends after the longest wait although output goes on', () => {
    const { clock, it, ends } = watch();
    for (let elapsedMs = 0; elapsedMs < LINGER_MAX_MS; elapsedMs += 100) {
      expect(ends).toEqual([]);
      it.touch();
      clock.step(100);
    }
    expect(ends).toEqual([LINGER_MAX_MS]);
  });

  it('does not count time in which the reader was held back', () => {
    const { clock, it, ends } = watch();
    clock.step(400);
    it.pause();
    clock.step(60_000);
    it.resume();
    clock.step(LINGER_SILENCE_MS - 1);
    expect(ends).toEqual([]);
    clock.step(1);
    expect(ends).toHaveLength(1);
  });

  it('waits for the first resume when it begins held back', () => {
    const { clock, it, ends } = watch(true);
    clock.step(60_000);
    it.resume();
    clock.step(LINGER_SILENCE_MS);
    expect(ends).toEqual([60_000 + LINGER_SILENCE_MS]);
  });

  it('is silent once closed', () => {
    const { clock, it, ends } = watch();
    it.close();
    clock.step(60_000);
    expect(ends).toEqual([]);
  });
});
