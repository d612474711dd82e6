import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineScanner, type LineMatch } from '../../../src/filesystem/scan/line-scanner.ts';

/** Scans bytes handed out in pieces of the given size, as a file would be. */
async function scan(content: Buffer, query: string, options: { pieceBytes?: number; limit?: number } = {}) {
  const { pieceBytes = 1 << 20, limit = 1_000 } = options;
  const matches: LineMatch[] = [];
  let at = 0;
  const source = {
    read(into: Buffer, offset: number, lengthBytes: number): number {
      const copied = content.copy(into, offset, at, at + Math.min(lengthBytes, pieceBytes));
      at += copied;
      return copied;
    },
    pass: () => undefined,
  };
  await createLineScanner(Buffer.from(query)).scan(source, (match) => matches.push(match) < limit);
  return matches;
}

function linesWith(content: string, query: string): LineMatch[] {
  const lines = content
    .split('\n')
    .map((text, index) => ({ line: index + 1, text: text.replace(/\r$/, '') }));
  return lines.filter(({ text }) => text.includes(query));
}

describe('createLineScanner()', () => {
  it('finds each matching line once, in any pieces', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ß', '😀', '\n'), maxLength: 60 });
    const query = fc.string({ unit: fc.constantFrom('a', 'b', 'ß'), minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(text, query, fc.integer({ min: 1, max: 9 }), async (content, literal, pieceBytes) => {
        expect(await scan(Buffer.from(content), literal, { pieceBytes })).toEqual(
          linesWith(content, literal),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('finds and counts right across blocks', async () => {
    const random = fc.sample(fc.integer({ min: 0, max: 200 }), { numRuns: 20_000, seed: 7 });
    const content = random
      .map((length, index) => (index % 97 === 0 ? 'the needle' : '·'.repeat(length)))
      .join('\n');

    expect(await scan(Buffer.from(content), 'the needle', { limit: 1e6 })).toEqual(
      linesWith(content, 'the needle'),
    );
  });

  it.each([-12, -9, -5, -1, 0, 1, 3_000])(
    'finds a literal that lies %i bytes from the end of a block',
    async (shift) => {
      for (const blockBytes of [256 * 1024, 256 * 1024 + 6_018]) {
        const before = `${'x'.repeat(99)}\n`.repeat(4_000).slice(0, blockBytes + shift);
        const content = `${before}the needle${'y'.repeat(50)}\nend`;

        expect(await scan(Buffer.from(content), 'the needle')).toEqual(linesWith(content, 'the needle'));
      }
    },
  );

  it('leaves the end of a line out, be it LF or CRLF', async () => {
    expect(await scan(Buffer.from('\ufeffone a\r\ntwo a\nthree a\r'), 'a')).toEqual([
      { line: 1, text: '\ufeffone a' },
      { line: 2, text: 'two a' },
      { line: 3, text: 'three a\r' },
    ]);
  });

  it('shows the first 1,000 characters of a line when the match is among them', async () => {
    const line = `${'a'.repeat(500)}needle${'b'.repeat(5_000)}`;

    expect(await scan(Buffer.from(`${line}\n`), 'needle')).toEqual([{ line: 1, text: line.slice(0, 1_000) }]);
  });

  it('shows a window round a match far out in a line, and the line only once', async () => {
    const line = `${'é'.repeat(400_000)}needle${'😀'.repeat(400_000)}needle`;

    const [first, second, ...rest] = await scan(Buffer.from(`one\n${line}\nneedle`), 'needle');

    expect(first?.line).toBe(2);
    expect(first?.text).toMatch(/^é{497}needle(😀){248}$/u);
    expect(first?.text.isWellFormed()).toBe(true);
    expect(second).toEqual({ line: 3, text: 'needle' });
    expect(rest).toEqual([]);
  });

  it('shows the end of a line that ends right behind the match', async () => {
    const [match] = await scan(Buffer.from(`${'a'.repeat(5_000)}needle\n`), 'needle');

    expect(match?.text).toBe(`${'a'.repeat(994)}needle`);
  });

  it('shows the beginning of a literal longer than the window', async () => {
    const query = 'q'.repeat(3_000);

    const [match] = await scan(Buffer.from(`${'a'.repeat(9_000)}${query}${'b'.repeat(9_000)}`), query);

    expect(match?.text).toBe('q'.repeat(1_000));
  });

  it.each([
    ['a zero byte in the first 8 KiB', 8_191, 0],
    ['a zero byte behind the first 8 KiB', 8_192, 1],
  ])('treats %s as the contract says', async (_, at, count) => {
    const content = Buffer.alloc(20_000, 'needle\n');
    content[at] = 0;

    expect(await scan(content, 'needle', { limit: 1 })).toHaveLength(count);
  });

  it('is used for one file after another', async () => {
    const scanner = createLineScanner(Buffer.from('a'));
    const found: LineMatch[] = [];
    for (const content of ['x\na', 'a', '', 'b']) {
      let rest = Buffer.from(content);
      const read = (into: Buffer, offset: number): number => {
        const copied = rest.copy(into, offset);
        rest = rest.subarray(copied);
        return copied;
      };
      await scanner.scan({ read, pass: () => undefined }, (match) => found.push(match) > 0);
    }

    expect(found).toEqual([
      { line: 2, text: 'a' },
      { line: 1, text: 'a' },
    ]);
  });
});
