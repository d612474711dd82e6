import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipUtf8, incompleteTailLength, utf8PrefixLength } from '../../src/support/utf8.ts';

const TEXT = 'a€😀é';

describe('utf8PrefixLength()', () => {
  it.each([
    [0, 0],
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 4],
    [5, 4],
    [6, 4],
    [7, 4],
    [8, 8],
    [9, 8],
    [10, 10],
    [99, 10],
    [-1, 0],
  ])('cuts at %i bytes down to %i', (maxBytes, expected) => {
    expect(utf8PrefixLength(Buffer.from(TEXT), maxBytes)).toBe(expected);
  });

  it('cuts bytes that are no characters at the cap', () => {
    expect(utf8PrefixLength(Buffer.alloc(10, 0x80), 7)).toBe(7);
  });

  it('keeps whole characters of any text', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), fc.nat(60), (text, maxBytes) => {
      const bytes = Buffer.from(text.toWellFormed());
      const cut = utf8PrefixLength(bytes, maxBytes);
      expect(cut).toBeLessThanOrEqual(maxBytes);
      expect(Math.min(bytes.length, maxBytes) - cut).toBeLessThan(4);
      expect(text.toWellFormed().startsWith(bytes.toString('utf8', 0, cut))).toBe(true);
    });
    fc.assert(property);
  });
});

describe('incompleteTailLength()', () => {
  it.each([
    ['nothing', [], 0],
    ['ASCII', [0x41], 0],
    ['a whole euro sign', [0xe2, 0x82, 0xac], 0],
    ['a first byte of two', [0x41, 0xc3], 1],
    ['a first byte of three', [0xe2], 1],
    ['two bytes of three', [0x41, 0xe2, 0x82], 2],
    ['three bytes of four', [0xf0, 0x9f, 0x98], 3],
    ['a whole emoji', [0xf0, 0x9f, 0x98, 0x80], 0],
    ['stray continuations', [0x80, 0x80, 0x80, 0x80], 0],
    ['an overlong form', [0xc0], 0],
    ['an overlong form of three', [0xe0, 0x80], 0],
    ['half a surrogate', [0xed, 0xa0], 0],
    ['beyond Unicode', [0xf4, 0x90], 0],
    ['a byte that begins nothing', [0xff], 0],
  ])('counts for %s', (_name, bytes, expected) => {
    expect(incompleteTailLength(Buffer.from(bytes))).toBe(expected);
  });
});

describe('clipUtf8()', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('gives whole emoji within %i bytes', (maxBytes) => {
    expect(clipUtf8('😀😀😀', maxBytes)).toBe('😀'.repeat(Math.floor(maxBytes / 4)));
  });

  it('replaces lone surrogates', () => {
    expect(clipUtf8('a\ud83d', 9)).toBe('a\ufffd');
    expect(clipUtf8('a\ud83d', 3)).toBe('a');
  });

  it('stays within the cap and well-formed for any text', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, maxBytes) => {
      const clipped = clipUtf8(text, maxBytes);
      expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(maxBytes);
      expect(clipped.isWellFormed()).toBe(true);
      expect(text.toWellFormed().startsWith(clipped)).toBe(true);
    });
    fc.assert(property);
  });
});
