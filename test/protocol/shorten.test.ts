import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToEncodedBytes, encodedBytes } from '../../src/protocol/shorten.ts';

function directBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

describe('encodedBytes()', () => {
  it.each([
    ['', 0],
    ['a"\\', 5],
    ['\n\u0001', 8],
    ['€😀', 7],
  ])('counts %j as %i', (text, expected) => {
    expect(encodedBytes(text)).toBe(expected);
  });

  it('counts pairs that straddle its slices once', () => {
    const text = `x${'😀'.repeat(100_000)}`;
    expect(encodedBytes(text)).toBe(directBytes(text));
  });
});

describe('cutToEncodedBytes()', () => {
  it('gives the longest whole prefix that fits', () => {
    const unit = fc.constantFrom('a', '"', '\n', '\u0001', 'é', '€', '😀');
    const text = fc.array(unit, { maxLength: 200 }).map((units) => units.join(''));
    const property = fc.property(text, fc.nat(300), (value, maxBytes) => {
      const cut = cutToEncodedBytes(value, maxBytes);
      expect(value.startsWith(cut)).toBe(true);
      expect(cut.isWellFormed()).toBe(true);
      expect(directBytes(cut)).toBeLessThanOrEqual(maxBytes);
      const [next = ''] = value.slice(cut.length);
      if (next !== '') expect(directBytes(cut + next)).toBeGreaterThan(maxBytes);
    });
    fc.assert(property);
  });

  it('finds the place in a long text', () => {
    expect(cutToEncodedBytes('😀'.repeat(300_000), 1_000_001)).toHaveLength(500_000);
    expect(cutToEncodedBytes('a'.repeat(300_000), 299_999)).toHaveLength(299_999);
  });
});
