import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderDocs, SCHEMAS, staleDocs } from '../../build/docs.ts';
import { ERRORS } from '../../src/protocol/errors.ts';

describe('renderDocs()', () => {
  it('is what the repository holds', () => {
    expect(staleDocs()).toEqual([]);
  });

  it('gives the same text each time', () => {
    expect([...renderDocs()]).toEqual([...renderDocs()]);
  });

  it('publishes every schema', () => {
    const published = [...renderDocs().keys()].filter((path) => path.startsWith('docs/schema/'));
    expect(published).toEqual(Object.keys(SCHEMAS).map((name) => `docs/schema/${name}.json`));
  });
});

describe('staleDocs()', () => {
  it('names what differs and what is left over', () => {
    const documents = renderDocs();
    documents.set('docs/errors.md', 'old');
    documents.delete('docs/schema/error.json');
    documents.set('docs/schema/new.json', '{}');
    expect(staleDocs(documents).toSorted()).toEqual([
      'docs/errors.md',
      'docs/schema/error.json',
      'docs/schema/new.json',
    ]);
  });
});

describe('docs/errors.md', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(.*?)` \| (.*) \| (yes|no) \| (\d+) \| (.*) \|$/gm)].map(
    ([, code = '', meaning, retry, exit, remedy]) => ({ code, meaning, retry, exit, remedy }),
  );

  it('lists every code once and no other', () => {
    expect(rows.map(({ code }) => code).toSorted()).toEqual(Object.keys(ERRORS).toSorted());
  });

  it.each(rows)('agrees with the table: $code', ({ code, meaning, retry, exit, remedy }) => {
    const known = Object.entries(ERRORS).find(([name]) => name === code)?.[1];
    expect([known?.meaning, known?.remedy]).toEqual([meaning, remedy]);
    expect([known?.retryable, known?.exitStatus]).toEqual([retry === 'yes', Number(exit)]);
  });
});
