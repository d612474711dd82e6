import { describe, expect, it } from 'vitest';
import { createRedaction } from '../../src/process/redaction.ts';

/** All output of one stream, fed in chunks of `chunkBytes`. */
function redact(values: string[], text: string | Buffer, chunkBytes = 1_000_000): string {
  const filter = createRedaction(values).createFilter();
  const bytes = Buffer.from(text as string);
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    out.push(Buffer.from(filter.push(bytes.subarray(at, at + chunkBytes))));
  out.push(filter.end());
  return Buffer.concat(out).toString();
}

/** The rule as a person would write it: mark every byte of every occurrence, then write each marked run once. */
function expected(values: string[], text: string): string {
  const bytes = Buffer.from(text);
  const spans = values
    .flatMap((value) => {
      const needle = Buffer.from(value);
      const found: [number, number][] = [];
      for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1))
        found.push([at, at + needle.length]);
      return found;
    })
    .sort((a, b) => a[0] - b[0]);
  let out = '';
  let written = 0;
  for (const [start, end] of spans) {
    if (start >= written) out += `${bytes.toString('utf8', written, start)}[redacted]`;
    written = Math.max(written, end);
  }
  return out + bytes.toString('utf8', written);
}

describe('createRedaction()', () => {
  it.each([
    ['a value', ['S3CR3T-abcdef'], 'x S3CR3T-abcdef y', 'x [redacted] y'],
    ['values side by side', ['ab', 'cd'], 'abcd', '[redacted][redacted]'],
    ['values that overlap', ['abcdeX', 'Xvery-sensitive'], '<abcdeXvery-sensitive>', '<[redacted]>'],
    ['the longer of two', ['pass', 'password'], 'password passport', '[redacted] [redacted]port'],
    ['a value inside another', ['redacted', 'ed'], 'redacted used', '[redacted] us[redacted]'],
    ['a part of the mask', ['redact'], 'redacted', '[redacted]ed'],
    ['the mask itself', ['[redacted]'], 'a [redacted] b', 'a [redacted] b'],
    ['a value that overlaps itself', ['aXa'], 'aXaXaXa.', '[redacted].'],
    ['a value over several lines', ['a\nb'], 'xa\nby\na', 'x[redacted]y\na'],
    ['characters of several bytes', ['ключ-値-🔑'], 'é🔑 ключ-値-🔑 値', 'é🔑 [redacted] 値'],
    ['text that ends in the beginning of a value', ['secret'], 'my secre', 'my secre'],
    [
      'a value that ends in the beginning of another',
      ['abcXYZ', 'cX'],
      'abcXabcXYZ',
      'ab[redacted][redacted]',
    ],
    [
      'characters with a meaning in expressions',
      ['a.*+?(b|c)$^[\\'],
      'a.*+?(b|c)$^[\\ axxb',
      '[redacted] axxb',
    ],
  ])('masks %s', (_name, values, text, wanted) => {
    expect(redact(values, text)).toBe(wanted);
    expect(redact(values.toReversed(), text)).toBe(wanted);
    expect(redact(values, text, 1)).toBe(wanted);
    expect(redact(values, text, 3)).toBe(wanted);
  });

  it('agrees with the plain rule for any values, text and cuts', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const word = (most: number): string =>
      Array.from({ length: 1 + random(most) }, () => 'abé'[random(3)]).join('');
    for (let round = 0; round < 2_000; round += 1) {
      const values = Array.from({ length: 1 + random(4) }, () => word(5));
      const text = word(30);
      const chunkBytes = 1 + random(6);
      expect([values, text, chunkBytes, redact(values, text, chunkBytes)]).toEqual([
        values,
        text,
        chunkBytes,
        expected(values, text),
      ]);
    }
  });

  it('leaves bytes that are not text as they are', () => {
    const filter = createRedaction(['secret']).createFilter();
    const bytes = Buffer.from([0xff, 0x73, 0x65, 0x00, 0xc3]);
    expect(Buffer.concat([filter.push(bytes), filter.end()])).toEqual(bytes);
  });

  it('lets output flow that cannot become a value', () => {
    const filter = createRedaction(['S3CR3T-abcdef']).createFilter();
    expect(filter.push(Buffer.from('ready\n')).toString()).toBe('ready\n');
    expect(filter.push(Buffer.from('go S3CR')).toString()).toBe('go ');
    expect(filter.push(Buffer.from('OLL')).toString()).toBe('S3CROLL');
  });

  it('holds each stream back by itself', () => {
    const redaction = createRedaction(['secret']);
    const [stdout, stderr] = [redaction.createFilter(), redaction.createFilter()];
    stdout.push(Buffer.from('sec'));
    expect(stderr.push(Buffer.from('ret')).toString()).toBe('ret');
    expect(stdout.push(Buffer.from('ret')).toString()).toBe('[redacted]');
  });

  it('takes values as long as a variable can be', () => {
    const value = 'ab'.repeat(60_000);
    expect(redact([value], `x${value}y${value.slice(0, -1)}`, 65_536)).toBe(
      `x[redacted]y${value.slice(0, -1)}`,
    );
  });

  it('redacts a text', () => {
    expect(createRedaction(['secret']).redactText('Cannot find "/secret/x"')).toBe(
      'Cannot find "/[redacted]/x"',
    );
  });
});
