import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOKAHEAD_BYTES, pageLength, startsInsideCharacter } from '../../src/filesystem/page.ts';

function decodeInPages(whole: Buffer, maxBytes: number): { text: string; longestBytes: number } {
  let text = '';
  let longestBytes = 0;
  for (let at = 0; at < whole.length; ) {
    const bytes = whole.subarray(at, at + maxBytes + LOOKAHEAD_BYTES);
    const length = pageLength(bytes, maxBytes);
    text += bytes.toString('utf8', 0, length);
    longestBytes = Math.max(longestBytes, length);
    at += length;
  }
  return { text, longestBytes };
}

describe('pageLength()', () => {
  it('makes pages that join to the text of the whole file, whatever its bytes', () => {
    // Bytes are drawn mostly from those that begin, continue or break characters.
    const byte = fc.oneof(
      fc.constantFrom(
        0x41,
        0x80,
        0x8f,
        0x90,
        0x9f,
        0xa0,
        0xbf,
        0xc0,
        0xc2,
        0xe0,
        0xe2,
        0xed,
        0xf0,
        0xf4,
        0xf5,
        0xff,
      ),
      fc.nat(255),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (bytes, maxBytes) => {
        const whole = Buffer.from(bytes);
        const pages = decodeInPages(whole, maxBytes);
        expect(pages.text).toBe(whole.toString('utf8'));
        expect(pages.longestBytes).toBeLessThanOrEqual(Math.max(4, maxBytes));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ['a character that fits', 'a€', 4, 4],
    ['a character that does not fit', 'a€b', 3, 1],
    ['a first character longer than the page', '😀b', 1, 4],
    ['plain text', 'abcdef', 3, 3],
    ['everything', 'abc', 9, 3],
    ['nothing', '', 3, 0],
  ])('ends behind %s', (_, text, maxBytes, expected) => {
    expect(pageLength(Buffer.from(text), maxBytes)).toBe(expected);
  });

  it('ends a broken first character where the next begins', () => {
    expect(pageLength(Buffer.from([0xc2, 0xf0, 0xed, 0x9f, 0x9f]), 1)).toBe(1);
  });

  it('delivers a character that the end of the file cuts off', () => {
    expect(pageLength(Buffer.from([0x61, 0xe2, 0x82]), 3)).toBe(3);
  });
});

describe('startsInsideCharacter()', () => {
  it.each([
    ['', false],
    ['a', false],
    ['€', false],
  ])('says of "%s" %s', (text, expected) => {
    expect(startsInsideCharacter(Buffer.from(text))).toBe(expected);
  });

  it('notices a continuation byte', () => {
    expect(startsInsideCharacter(Buffer.from('€').subarray(1))).toBe(true);
  });
});
