import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineReader } from '../../src/octonode/line-reader.ts';

function read(chunks: Buffer[], maxLineBytes = 1_000): string[] {
  const seen: string[] = [];
  const reader = new LineReader(maxLineBytes, {
    onLine: (text) => seen.push(text),
    onBroken: (line) => seen.push(`broken ${line.toString('hex')}`),
    onOverflow: () => seen.push('overflow'),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return seen;
}

describe('LineReader', () => {
  it('gives the same lines however the bytes are cut', () => {
    const text = fc.array(
      fc.string({ unit: 'grapheme', maxLength: 20 }).map((line) => line.replaceAll('\n', ' ')),
    );

    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          Buffer.from(bytes.subarray(index * size, (index + 1) * size)),
        );
        const withoutEmpty = (all: string[]): string[] => all.filter((line) => line !== '');
        expect(withoutEmpty(read(chunks))).toEqual(withoutEmpty(lines));
      }),
    );
  });

  it('delivers a last line without a newline', () => {
    expect(read([Buffer.from('a\nb')])).toEqual(['a', 'b']);
  });

  it('skips a line over the limit and reports it once', () => {
    const chunks = ['12345', '67890', '1\nok\n'].map((text) => Buffer.from(text));

    expect(read(chunks, 8)).toEqual(['overflow', 'ok']);
  });

  it('reports a line over the limit that lies in one chunk', () => {
    expect(read([Buffer.from('123456789\nok\n')], 8)).toEqual(['overflow', 'ok']);
  });

  it('tells broken lines apart from good ones beside them', () => {
    expect(read([Buffer.from([0x61, 0x0a, 0xff, 0x0a, 0xef, 0xbf, 0xbd, 0x0a])])).toEqual([
      'a',
      'broken ff',
      '\ufffd',
    ]);
  });

  it('keeps memory by the byte when single bytes come', () => {
    const one = Buffer.from('x');
    let length = 0;
    const reader = new LineReader(4_000_000, {
      onLine: (text) => {
        length = text.length;
      },
      onBroken() {},
      onOverflow() {},
    });

    for (let index = 0; index < 2_000_000; index += 1) reader.push(one);
    reader.push(Buffer.from('\n'));

    expect(length).toBe(2_000_000);
  });
});
