import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStreamDecoder } from '../../src/process/text-decoder.ts';

/** Bytes that like to be UTF-8, whole or broken. */
const bytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 6 }).map((array) => Buffer.from(array)),
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
      fc
        .constantFrom('e282', 'f09f98', 'f09f9880', 'e282ac', 'c3', 'eda080', 'c080', 'f4908080', 'efbbbf')
        .map((hex) => Buffer.from(hex, 'hex')),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

function decode(chunks: Buffer[]): { text: string; bytes: number; hasInvalidInput: boolean } {
  const decoder = createStreamDecoder();
  const parts = [...chunks.map((chunk) => decoder.push(chunk)), decoder.end()];
  return {
    text: parts.map((part) => part.text).join(''),
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    hasInvalidInput: decoder.hasInvalidInput,
  };
}

function chunksOf(input: Buffer, sizes: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let offset = 0;
  for (const size of sizes) {
    chunks.push(input.subarray(offset, offset + size));
    offset += size;
  }
  return [...chunks, input.subarray(offset)];
}

describe('createStreamDecoder()', () => {
  it('gives what TextDecoder gives for the whole, however the bytes are cut', () => {
    const whole = new TextDecoder('utf-8', { ignoreBOM: true });
    fc.assert(
      fc.property(bytes, fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 }), (input, sizes) => {
        const decoded = decode(chunksOf(input, sizes));
        expect(decoded.text).toBe(whole.decode(input));
        expect(decoded.bytes).toBe(Buffer.byteLength(decoded.text));
        expect(decoded.hasInvalidInput).toBe(!Buffer.from(decoded.text).equals(input));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps an unfinished character back until it is whole', () => {
    const decoder = createStreamDecoder();
    const first = decoder.push(Buffer.from([0x61, 0xe2]));
    const second = decoder.push(Buffer.from([0x82, 0xac]));
    expect([first.text, second.text]).toEqual(['a', '€']);
  });

  it.each([['e2'], ['e282'], ['f09f98']])('replaces the broken tail %s once', (hex) => {
    expect(decode([Buffer.from(hex, 'hex')])).toEqual({ text: '\ufffd', bytes: 3, hasInvalidInput: true });
  });
});
