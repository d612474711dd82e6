import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineSplitter } from '../../src/protocol/json-lines.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

interface Split {
  lines: string[];
  heads: string[];
}

function split(chunks: Iterable<Buffer>, maxLineBytes = 2 * MIB): Split {
  const lines: string[] = [];
  const heads: string[] = [];
  const splitter = createLineSplitter({
    maxLineBytes,
    onLine: (line) => lines.push(line.toString('latin1')),
    onOversized: (head) => heads.push(head.toString('latin1')),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, heads };
}

function* pieces(data: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let at = 0; at < data.length; at += pieceBytes) yield data.subarray(at, at + pieceBytes);
}

describe('createLineSplitter()', () => {
  it.each([
    ['two lines', 'a\nb\n', ['a', 'b']],
    ['a last line without newline', 'a\nb', ['a', 'b']],
    ['carriage returns', 'a\r\nb\r\n', ['a', 'b']],
    ['only one carriage return', 'a\r\r\n', ['a\r']],
    ['blank lines', '\n\r\n  \n\t\r\na\n\n', ['a']],
    ['a line separator, which is no line end', 'a\u2028b\u0085\n', ['a\u2028b\u0085']],
    ['nothing', '', []],
  ])('reads %s', (_name, text, expected) => {
    const bytes = Buffer.from(text);
    expect(split([bytes]).lines).toEqual(expected.map((line) => Buffer.from(line).toString('latin1')));
  });

  it('gives the same lines for any chunking', () => {
    const line = fc.string({ unit: fc.constantFrom('a', '\r', ' ', '"', '\n', '€') });
    const property = fc.property(fc.array(line), fc.integer({ min: 1, max: 9 }), (parts, pieceBytes) => {
      const data = Buffer.from(parts.join('\n'));
      const inPieces = split(pieces(data, pieceBytes), 8);
      const atOnce = split([data], 8);
      expect(inPieces.lines).toEqual(atOnce.lines);
      expect(inPieces.heads).toHaveLength(atOnce.heads.length);
    });
    fc.assert(property);
  });

  it('hands on a view of the chunk when the line lies in it', () => {
    const chunk = Buffer.from('one\ntwo\n');
    const lines: Buffer[] = [];
    createLineSplitter({ onLine: (line) => lines.push(line), onOversized() {} }).push(chunk);
    expect(lines.map((line) => line.buffer === chunk.buffer)).toEqual([true, true]);
  });

  it('does not change a line that was handed on', () => {
    const lines: Buffer[] = [];
    const splitter = createLineSplitter({ onLine: (line) => lines.push(line), onOversized() {} });
    for (const text of ['fir', 'st\nsec', 'ond\n']) splitter.push(Buffer.from(text));
    expect(lines.map(String)).toEqual(['first', 'second']);
  });

  it.each([1, 3, 7, 100])(
    'takes a line of the limit, newline included, and none longer, in pieces of %i',
    (size) => {
      const fits = Buffer.from(`${'x'.repeat(7)}\n`);
      expect(split(pieces(fits, size), 8)).toEqual({ lines: ['xxxxxxx'], heads: [] });
      const tooLong = Buffer.from(`${'x'.repeat(8)}\nok\n`);
      expect(split(pieces(tooLong, size), 8).lines).toEqual(['ok']);
      expect(split(pieces(tooLong, size), 8).heads).toHaveLength(1);
    },
  );

  it.each([1000, 64 * KIB, 8 * MIB])(
    'reports a long line once, with its first 64 KiB, in pieces of %i',
    (size) => {
      const data = Buffer.from(`{"id":7,"x":"${'y'.repeat(3 * MIB)}"}\n{}\n`);
      const { lines, heads } = split(pieces(data, size));
      expect(lines).toEqual(['{}']);
      expect(heads).toEqual([data.toString('latin1', 0, 64 * KIB)]);
    },
  );

  it('reports a long line before its end has come', () => {
    const heads: Buffer[] = [];
    const splitter = createLineSplitter({
      maxLineBytes: 8,
      onLine() {},
      onOversized: (head) => heads.push(head),
    });
    splitter.push(Buffer.from('123456789'));
    expect(heads.map(String)).toEqual(['123456789']);
  });

  it('skips 50 MB in small chunks with flat memory and goes on', () => {
    const chunk = Buffer.alloc(100, 'z');
    const lines: Buffer[] = [];
    let oversized = 0;
    const splitter = createLineSplitter({
      onLine: (line) => lines.push(line),
      onOversized: () => oversized++,
    });
    const before = process.memoryUsage().arrayBuffers;
    for (let sent = 0; sent < 50 * MIB; sent += chunk.length) splitter.push(chunk);
    const grownBytes = process.memoryUsage().arrayBuffers - before;
    splitter.push(Buffer.from('\n{"method":"health"}\n'));
    expect(grownBytes).toBeLessThan(8 * MIB);
    expect(oversized).toBe(1);
    expect(lines.map(String)).toEqual(['{"method":"health"}']);
  });

  it('collects one long line from single bytes in linear time', () => {
    const data = Buffer.alloc(1 * MIB, 'q');
    const startedMs = performance.now();
    expect(split(pieces(data, 1)).lines[0]).toHaveLength(1 * MIB);
    // A quadratic collector copies 2^39 bytes here: minutes, not a fraction of a second.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
