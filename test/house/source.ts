// The source tree as data: files, lines and imports, for the tests that hold the rules of the house.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface SourceFile {
  /** Relative to the root, such as `src/gateway/gateway.ts`. */
  path: string;
  text: string;
  lines: number;
  /** Paths of our own files that it imports, types included. */
  imports: string[];
}

export function readSources(...patterns: string[]): SourceFile[] {
  return globSync(patterns)
    .toSorted()
    .map((path) => {
      const text = readFileSync(path, 'utf8');
      return { path, text, lines: text.split('\n').length - 1, imports: ownImports(path, text) };
    });
}

function ownImports(path: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:\bfrom|\bimport\s*\(|^import)\s*'(\.[^']+)'/gm);
  return [...specifiers].map((match) => join(dirname(path), match[1] ?? ''));
}
