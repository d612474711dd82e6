import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGlob } from '../../../src/filesystem/walk/glob.ts';

describe('createGlob()', () => {
  it.each([
    ['*', 'a', true],
    ['*', 'a/b', false],
    ['*.ts', 'a.ts', true],
    ['*.ts', 'a/b.ts', false],
    ['?.ts', 'a.ts', true],
    ['?.ts', '.ts', false],
    ['a?b', 'a/b', false],
    ['?', '😀', true],
    ['**', 'a/b/c', true],
    ['**', 'a\nb/c', true],
    ['**/*', 'a', true],
    ['**/*', 'a/b/c', true],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'x/y/a.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'src', false],
    ['src/**', 'srcs/a', false],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'axb', false],
    ['a**b', 'a/x/b', true],
    ['a**/b', 'ab', true],
    ['a**/b', 'axb', false],
    ['a**/b', 'ax/y/b', true],
    ['**.ts', 'a/b.ts', true],
    ['**/', 'a/', true],
    ['A.ts', 'a.ts', false],
    ['a.ts', 'aXts', false],
    ['', '', true],
    ['', 'a', false],
  ])('lets "%s" match "%s": %s', (pattern, path, expected) => {
    expect(createGlob(pattern)(path)).toBe(expected);
  });

  it.each([
    '[id].ts',
    '[foo',
    'a,{b,c}',
    '{a,b}',
    '(a|b)',
    '!a',
    '+(a)',
    '@(a)',
    'a\\b',
    '$a^',
    '-77',
    '--files',
    './a',
  ])('takes "%s" literally', (pattern) => {
    expect(createGlob(pattern)(pattern)).toBe(true);
    expect(createGlob(`*${pattern}`)(pattern)).toBe(true);
    for (const other of ['i.ts', 'f', 'a', 'b', 'ab', 'a,b']) expect(createGlob(pattern)(other)).toBe(false);
  });

  it('agrees with the same rules written as a regular expression', () => {
    const part = fc.constantFrom('a', 'b', '/', '*', '**', '**/', '?', '.');
    const path = fc.array(fc.constantFrom('a', 'b', '/', '.', 'ab'), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), path, (parts, letters) => {
        const pattern = parts.join('');
        expect(createGlob(pattern)(letters.join(''))).toBe(asRegExp(pattern).test(letters.join('')));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['*a'.repeat(20), '**/'.repeat(500), `${'**a'.repeat(30)}b`, '?*'.repeat(100)])(
    'is done with a hostile pattern in no time',
    (pattern) => {
      const startMs = performance.now();

      createGlob(`${pattern}x`)(`${'a'.repeat(255)}x`);
      createGlob(pattern)(`${'a/'.repeat(500)}b`);

      expect(performance.now() - startMs).toBeLessThan(200);
    },
  );
});

function asRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\./g, (part) => {
    return { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]', '.': '\\.' }[part] ?? part;
  });
  return new RegExp(`^${source}$`, 's');
}
