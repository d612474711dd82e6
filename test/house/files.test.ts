import { describe, expect, it } from 'vitest';
import { readSources } from './source.ts';

const MAX_LINES = 300;
/** Tables and tests may be longer. */
const MAX_TABLE_LINES = 400;
const TABLES = /^src\/protocol\/(errors|envelopes)\.ts$|^test\//;

/** What only some places may touch, and why it is not a lint rule: Biome cannot tell `Date.now` from `Date`. */
const RESERVED = [
  { what: /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\)/, where: /^src\/support\// },
  // Node's recursive mkdir spins for ever under /proc.
  { what: /\bmkdir(Sync)?\(/, where: /^src\/support\/make-directory\.ts$/ },
  { what: /\bprocess\.exit\b/, where: /^src\/main\.ts$/ },
  { what: /\bprocess\.(env|argv)\b/, where: /^src\/main\.ts$|^src\/commands\// },
];

const sources = readSources('src/**/*.ts', 'build/**/*.ts', 'test/**/*.ts');

describe('files', () => {
  it('stay short enough to hold one idea', () => {
    const long = sources.filter(
      (file) => file.lines > (TABLES.test(file.path) ? MAX_TABLE_LINES : MAX_LINES),
    );
    expect(long.map((file) => `${file.path}: ${file.lines}`)).toEqual([]);
  });

  it('say in their first line what they are for', () => {
    const silent = sources.filter(
      (file) => file.path.startsWith('src/') && !/^(#!.*\n)?\/\//.test(file.text),
    );
    expect(silent.map((file) => file.path)).toEqual([]);
  });

  it('live in folders with a meaning', () => {
    const vague = sources.filter((file) => /\/(utils?|common|helpers?|lib|types)\//.test(file.path));
    expect(vague.map((file) => file.path)).toEqual([]);
  });

  it.each(RESERVED)('keep $what to $where', ({ what, where }) => {
    const strays = sources.filter(
      (file) =>
        file.path.startsWith('src/') && !where.test(file.path) && what.test(withoutComments(file.text)),
    );
    expect(strays.map((file) => file.path)).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
