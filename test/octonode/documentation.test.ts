// docs/nodes.md: its envelopes are valid and its TypeScript runs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAnswer, parseRequest } from '../../src/octonode/envelopes.ts';
import { invokeNode } from '../../src/octonode/octonode.ts';
import { hosted, options } from './nodes.ts';

const page = readFileSync(new URL('../../docs/nodes.md', import.meta.url), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'octonode-docs-'));
afterAll(() => rmSync(directory, { recursive: true }));

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
    (match) => match[1] ?? '',
  );
}

describe('docs/nodes.md', () => {
  it.each(blocks('json').flatMap((block) => block.trim().split('\n')))(
    'shows a valid envelope: %s',
    (line) => {
      const envelope = JSON.parse(line);
      const isRequest = envelope.type === 'invoke' || envelope.type === 'describe';
      const parsed = isRequest
        ? parseRequest(envelope)
        : parseAnswer(envelope, envelope.type === 'result' ? 'invoke' : 'describe');

      expect(parsed).toMatchObject({ status: 'ok' });
    },
  );

  it.each([
    ['greet', 0, { name: 'Ada' }, undefined, { greeting: 'Hello, Ada' }],
    ['counter', 1, 2, 'counter.add', 2],
  ] as const)('shows a node that runs: %s', async (name, block, inputs, node, outputs) => {
    const file = join(directory, `${name}.ts`);
    writeFileSync(file, blocks('ts')[block] ?? '');

    expect(
      await invokeNode(hosted(file), inputs, { ...options(), ...(node === undefined ? {} : { node }) }),
    ).toMatchObject({ outputs });
  });
});
