import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { prefixed } from '../../src/commands/prefixed.ts';
import type { System } from '../../src/commands/system.ts';

/** What comes out when two hosts write `chunks`, and the number of writes it took. */
async function write(...chunks: (string | Buffer)[]): Promise<string> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  // The part of a system that is written to.
  const system = prefixed({ stdout, stderr } as unknown as System, 'web-1: ');
  const collected = text(stdout);
  for (const chunk of chunks) system.stdout.write(chunk);
  await system.finish();
  stdout.end();
  return collected;
}

describe('prefixed()', () => {
  it.each([
    ['whole lines', ['a\nb\n'], 'web-1: a\nweb-1: b\n'],
    ['a line in parts', ['a', 'b', 'c\n'], 'web-1: abc\n'],
    ['an empty line', ['\n'], 'web-1: \n'],
    ['a last line without an end', ['a\nb'], 'web-1: a\nweb-1: b\n'],
    ['nothing', [], ''],
    ['a character in two chunks', [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], 'web-1: é\n'],
  ])('puts the host in front of %s', async (_what, chunks, expected) => {
    expect(await write(...chunks)).toBe(expected);
  });

  it('cuts a line that is over 64 KiB', async () => {
    const written = await write(...Array.from({ length: 5 }, () => 'x'.repeat(40_000)));
    expect(written.split('\n').map((line) => line.length)).toEqual([80_007, 80_007, 40_007, 0]);
  });

  it('ends with the reader', async () => {
    const stdout = new PassThrough();
    const system = prefixed({ stdout, stderr: new PassThrough() } as unknown as System, 'web-1: ');
    stdout.destroy();
    await new Promise((resolve) => system.stdout.once('close', resolve));
    expect(system.stdout.writable).toBe(false);
  });
});
