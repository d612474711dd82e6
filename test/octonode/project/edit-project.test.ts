import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  editProject,
  type JsonObject,
  type ParsedProject,
  parseProject,
} from '../../../src/octonode/project/project.ts';

const HAND_WRITTEN = `# Our nodes. Ask Ada before you change anything.
apiVersion: octonode.dev/v1
metadata: {name:   "demo"}   # spaces on purpose

sources: ['python3 nodes/greet.py']
nodes:
    # the one that greets
    - id:   greet   # trailing
      signature:
          # about the language
          language: python
          command: [python3, "nodes/greet.py"]   # inline
          inputs:
              type: object   # always
              properties: {name: {type: string}}
          checksum: old

      # how I run it
      runtime:   { timeout_ms: 5 }

    - {id: flow, signature: {language: sh, command: [ ./x ]}, disabled: true}
    - id: last
      presentation: {icon: mine}
      signature:
        language: sh
# after the nodes

types:   {}
`;

async function parsed(text: string): Promise<ParsedProject> {
  const reading = await parseProject(text);
  if (reading.status === 'invalid') throw new Error(JSON.stringify(reading.problems));
  return reading.parsed;
}

async function edit(
  text: string,
  id: string,
  signature: JsonObject,
  seeds: JsonObject = {},
): Promise<string> {
  return editProject(await parsed(text), [{ id, signature, seeds }]);
}

describe('editProject()', () => {
  it('replaces what changed in a signature and no other byte', async () => {
    const after = await edit(HAND_WRITTEN, 'greet', {
      language: 'python',
      command: ['python3', 'nodes/hello.py'],
      inputs: { type: 'object', properties: { name: { type: 'number' } }, required: ['name'] },
      checksum: 'new',
    });

    expect(after).toBe(
      HAND_WRITTEN.replace('[python3, "nodes/greet.py"]   # inline', '[python3, nodes/hello.py] # inline')
        .replace('type: object   # always', 'type: object # always')
        .replace(
          'properties: {name: {type: string}}\n',
          'properties: {name: {type: number}}\n              required: [name]\n',
        )
        .replace('checksum: old', 'checksum: new'),
    );
  });

  it('keeps a signature in braces in its braces', async () => {
    const after = await edit(HAND_WRITTEN, 'flow', { language: 'sh', command: ['./y'], orphaned: true });

    expect(after).toBe(
      HAND_WRITTEN.replace(
        '{language: sh, command: [ ./x ]}',
        '{language: sh, command: [./y], orphaned: true}',
      ),
    );
  });

  it('adds a node after the last, with its seeds', async () => {
    const after = await edit(HAND_WRITTEN, 'new', { language: 'c', command: ['./new'] }, { icon: 'wave' });

    expect(after).toBe(
      HAND_WRITTEN.replace(
        '        language: sh\n# after',
        '        language: sh\n    - id: new\n      signature:\n        language: c\n        command: [./new]\n      presentation:\n        icon: wave\n# after',
      ),
    );
  });

  it.each([
    ['no list', 'apiVersion: octonode.dev/v1 # v1\n'],
    ['no last line break', 'apiVersion: octonode.dev/v1'],
    ['an empty list', 'apiVersion: octonode.dev/v1\nnodes: []\ntypes: {} # t\n'],
    ['an empty value', 'nodes:\n# c\napiVersion: octonode.dev/v1\n'],
    ['a list in brackets', 'apiVersion: octonode.dev/v1\nnodes: [{id: a}] # c\n'],
    ['Windows line ends', 'apiVersion: octonode.dev/v1\r\nnodes:\r\n- id: a\r\n'],
  ])('adds a node to a file with %s', async (_name, text) => {
    const after = await edit(text, 'b', { language: 'c', command: ['./b'] });

    const { content } = await parsed(after);
    expect(content.nodes?.at(-1)).toEqual({ id: 'b', signature: { language: 'c', command: ['./b'] } });
    for (const comment of text.match(/# \w+/g) ?? []) expect(after).toContain(comment);
    expect(after.includes('\r\n')).toBe(text.includes('\r\n'));
  });

  it('records a node that a person began, and seeds what they left open', async () => {
    const text = 'apiVersion: octonode.dev/v1\nnodes:\n  - id: a # mine\n    presentation: {icon: own}\n';

    const after = await edit(text, 'a', { language: 'c' }, { icon: 'theirs', config: { deep: [1] } });

    expect((await parsed(after)).content.nodes).toEqual([
      { id: 'a', presentation: { icon: 'own', config: { deep: [1] } }, signature: { language: 'c' } },
    ]);
    expect(after).toContain('# mine');
  });

  it('records a node that a person began without touching another byte', async () => {
    const text =
      'apiVersion:   octonode.dev/v1\nnodes:\n- id:   a   # mine\n  presentation:\n      icon:  own\n- {id: b}\n# end\n';

    const after = await edit(text, 'a', { language: 'c' }, { icon: 'theirs', config: 1 });

    expect(after).toBe(
      text.replace(
        '      icon:  own\n',
        '      icon:  own\n      config: 1\n  signature:\n    language: c\n',
      ),
    );
  });

  it('keeps JSON JSON, with its indentation', async () => {
    const text = `${JSON.stringify({ apiVersion: 'octonode.dev/v1', nodes: [{ id: 'a' }] }, null, 4)}\n`;

    const after = await edit(text, 'a', { language: 'c' });

    expect(after).toBe(
      `${JSON.stringify({ apiVersion: 'octonode.dev/v1', nodes: [{ id: 'a', signature: { language: 'c' } }] }, null, 4)}\n`,
    );
  });

  it('writes any JSON value so that it reads back as it was, twice without a difference', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), async (value) => {
        // Through JSON, as a manifest comes: no negative zero.
        const inputs = JSON.parse(JSON.stringify(value));
        const once = await edit(HAND_WRITTEN, 'last', { language: 'sh', inputs });
        const twice = await edit(once, 'last', { language: 'sh', inputs });

        expect((await parsed(once)).content.nodes?.[2]?.signature?.inputs).toEqual(inputs);
        expect(twice).toBe(once);
        expect(once.startsWith(HAND_WRITTEN.slice(0, HAND_WRITTEN.indexOf('    - id: last')))).toBe(true);
        expect(once.endsWith('# after the nodes\n\ntypes:   {}\n')).toBe(true);
      }),
      // A key that YAML 1.1 reads as a merge.
      { numRuns: 200, examples: [[{ '': { '<<': '' } }], [{ '<<': [] }]] },
    );
  });
});
