import { describe, expect, it } from 'vitest';
import { findChangedArgument } from '../../src/commands/raw-arguments.ts';

function commandLine(...args: (string | Buffer)[]): () => Buffer {
  return () => Buffer.concat(args.flatMap((arg) => [Buffer.from(arg as string), Buffer.from([0])]));
}

const BROKEN = Buffer.from([0x61, 0xff, 0x62]);

describe('findChangedArgument()', () => {
  it('does not look where nothing gives a reason to', () => {
    const readRaw = (): Buffer => {
      throw new Error('It looked');
    };
    expect(findChangedArgument(['exec', '', 'é😀'], readRaw)).toBeUndefined();
  });

  it.each<[string, string[], (string | Buffer)[], string | undefined]>([
    ['bytes that are not UTF-8', ['exec', 'a\ufffdb'], ['exec', BROKEN], 'a\ufffdb'],
    ['only the second of two', ['a\ufffdb', 'a\ufffdb'], ['a\ufffdb', BROKEN], 'a\ufffdb'],
    ['none when all of it was typed', ['a\ufffdb', '', ''], ['a\ufffdb', '', ''], undefined],
    [
      'none when the program has arguments of its own',
      ['\ufffd'],
      ['x\ufffd', 'main.ts', '\ufffd'],
      undefined,
    ],
  ])('finds %s', (_, args, typed, found) => {
    expect(findChangedArgument(args, commandLine('burrow', ...typed))).toBe(found);
  });

  it('finds every U+FFFD where the kernel does not tell', () => {
    const fail = (): Buffer => {
      throw new Error('ENOENT');
    };
    expect(findChangedArgument(['\ufffd'], fail)).toBe('\ufffd');
  });
});
