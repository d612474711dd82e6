import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeJson, MAX_ESCAPED_BYTES } from '../../src/protocol/json-escape.ts';

const expected = (text: string): string => JSON.stringify(text).slice(1, -1);

describe('escapeJson()', () => {
  it('escapes every byte below 128 as JSON.stringify does', () => {
    for (let code = 0; code < 128; code += 1) {
      const text = `0123456789${String.fromCharCode(code)}`.repeat(5);
      expect(escapeJson(Buffer.from(text)).toString()).toBe(expected(text));
    }
  });

  it.each([0, 1, 15, 16, 17, 31, 32, 33])('takes %i clean bytes', (length) => {
    expect(escapeJson(Buffer.from('x'.repeat(length))).toString()).toBe('x'.repeat(length));
  });

  it('agrees with JSON.stringify on any well-formed text', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\n', '"', '\\', '\u0000', '\u001f'),
        fc.string({ unit: 'grapheme', maxLength: 3 }),
      ),
    });
    fc.assert(
      fc.property(text, (sample) => escapeJson(Buffer.from(sample)).toString() === expected(sample)),
      { numRuns: 3_000 },
    );
  });

  it('has room for the largest chunk of nothing but controls', () => {
    const chunk = Buffer.alloc(MAX_ESCAPED_BYTES, 1);
    expect(escapeJson(chunk).toString()).toBe('\\u0001'.repeat(MAX_ESCAPED_BYTES));
  });
});
