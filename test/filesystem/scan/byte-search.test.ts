import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteSearch } from '../../../src/filesystem/scan/byte-search.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 120 });

describe('createByteSearch()', () => {
  it('finds what Buffer.indexOf finds, between any two places', () => {
    const needle = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(letters, needle, fc.nat(60), fc.nat(120), (text, literal, start, end) => {
        const search = createByteSearch(128, Buffer.from(literal));
        search.bytes.write(text);
        const expected = search.bytes.subarray(0, end).indexOf(literal, Math.min(start, end));
        expect(search.find(Math.min(start, end), end)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('counts line feeds between any two places', () => {
    const search = createByteSearch(128, Buffer.from('x'));
    fc.assert(
      fc.property(letters, fc.nat(60), fc.nat(60), (text, start, length) => {
        search.bytes.fill(0).write(text);
        const part = search.bytes.subarray(start, start + length);
        expect(search.countLineFeeds(start, start + length)).toBe(part.filter((byte) => byte === 10).length);
      }),
      { numRuns: 500 },
    );
  });

  it.each([1, 2, 255, 256, 257, 5_000])(
    'finds a literal of %i bytes at both ends of the buffer',
    (length) => {
      const needle = Buffer.alloc(length, 'ab');
      const search = createByteSearch(20_000, needle);
      search.bytes.fill('-');

      needle.copy(search.bytes, 20_000 - length);
      expect(search.find(0, 20_000)).toBe(20_000 - length);
      expect(search.find(0, 19_999)).toBe(-1);

      needle.copy(search.bytes, 0);
      expect(search.find(0, 20_000)).toBe(0);
    },
  );

  it.each([256, 100_000])(
    'is done in no time where a literal of %i bytes almost occurs everywhere',
    (length) => {
      const needle = Buffer.concat([Buffer.from('ab'), Buffer.alloc(length - 2, 'a')]);
      const search = createByteSearch(256 * 1024, needle);
      search.bytes.fill('a');
      const startMs = performance.now();

      expect(search.find(0, 256 * 1024)).toBe(-1);
      expect(performance.now() - startMs).toBeLessThan(200);
    },
  );
});
