import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ByteFilter, type Capture, createCapture } from '../../src/process/capture.ts';
import { MAX_FRAME_BYTES } from '../../src/protocol/defaults.ts';
import type { StreamPart } from './run.ts';

function capture(
  maxOutputBytes: number,
  createFilter?: () => ByteFilter,
): { capture: Capture; parts: StreamPart[]; overflows: number[] } {
  const parts: StreamPart[] = [];
  const overflows: number[] = [];
  const it = createCapture(
    { maxOutputBytes, createFilter },
    {
      onText: (stream, text, truncated) => parts.push({ stream, data: text.text, truncated }),
      onOverflow: () => overflows.push(parts.length),
    },
  );
  return { capture: it, parts, overflows };
}

describe('createCapture()', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('cuts emoji at a cap of %i bytes on a character boundary', (cap) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.boolean(), (size, toStderr) => {
        const { capture: it, parts, overflows } = capture(cap);
        const output = Buffer.from('😀😀😀');
        const stream = toStderr ? 'stderr' : 'stdout';
        for (let at = 0; at < output.length; at += size) it.push(stream, output.subarray(at, at + size));
        it.end('stdout');
        it.end('stderr');
        const { text, totalBytes } = it.read(stream);
        expect(text).toBe('😀'.repeat(Math.floor(cap / 4)));
        expect(parts.map((part) => part.data).join('')).toBe(text);
        expect(parts.filter((part) => part.truncated)).toHaveLength(1);
        expect(parts.at(-1)?.truncated).toBe(true);
        expect(overflows).toEqual([parts.length]);
        expect(totalBytes).toBe(12);
      }),
      { numRuns: 30 },
    );
  });

  it('takes output of exactly the cap without a word', () => {
    const { capture: it, parts, overflows } = capture(6);
    it.push('stdout', Buffer.from('abc'));
    it.push('stderr', Buffer.from('def'));
    it.end('stdout');
    it.end('stderr');
    expect(parts.map((part) => part.truncated)).toEqual([false, false]);
    expect(overflows).toEqual([]);
  });

  it('says truncated with empty text when nothing more fits', () => {
    const { capture: it, parts } = capture(3);
    it.push('stdout', Buffer.from('abc'));
    it.push('stderr', Buffer.from('d'));
    it.push('stderr', Buffer.from('e'));
    expect(parts).toEqual([
      { stream: 'stdout', data: 'abc', truncated: false },
      { stream: 'stderr', data: '', truncated: true },
    ]);
  });

  it('counts the replacement mark with the three bytes it has on the wire', () => {
    const { capture: it, overflows } = capture(3);
    it.push('stdout', Buffer.from([0xff]));
    expect(it.read('stdout')).toMatchObject({ text: '\ufffd', totalBytes: 1, hasInvalidInput: true });
    it.push('stdout', Buffer.from([0xff]));
    expect(overflows).toHaveLength(1);
  });

  it('delivers more than a frame but keeps no more than one', () => {
    const { capture: it, parts } = capture(64 * MAX_FRAME_BYTES);
    for (let count = 0; count < 50; count += 1) it.push('stdout', Buffer.from('€'.repeat(20_000)));
    const kept = it.read('stdout');
    expect(parts.reduce((sum, part) => sum + part.data.length, 0)).toBe(1_000_000);
    expect(Buffer.byteLength(kept.text)).toBe(MAX_FRAME_BYTES - (MAX_FRAME_BYTES % 3));
    expect(kept).toMatchObject({ isShortened: true, totalBytes: 3_000_000 });
  });

  it('keeps a thousand tiny parts in order', () => {
    const { capture: it } = capture(1_000_000);
    const numbers = Array.from({ length: 1_000 }, (_, index) => `${index},`);
    for (const number of numbers) it.push('stderr', Buffer.from(number));
    expect(it.read('stderr').text).toBe(numbers.join(''));
  });

  it.each(['', 'a', 'ü'])('gives the digest of the text it kept: "%s"', (text) => {
    const { capture: it } = capture(10);
    it.push('stdout', Buffer.from(text));
    expect(it.read('stdout').digest).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('shows only what the filter lets out, and its rest at the end', () => {
    let held: Buffer = Buffer.alloc(0);
    const filter: ByteFilter = {
      push(chunk) {
        const out = held;
        held = chunk;
        return out;
      },
      end: () => Buffer.concat([held, Buffer.from('.')]),
    };
    const { capture: it, parts } = capture(100, () => filter);
    it.push('stdout', Buffer.from('one '));
    it.push('stdout', Buffer.from('two'));
    it.end('stdout');
    it.end('stdout');
    expect(parts.map((part) => part.data)).toEqual(['one ', 'two.']);
  });
});
