// One contract, seven languages: each greets by name, describes itself where it can, one-shot and as a worker.
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { createNodeWorker, describeNode, invokeNode, type NodeCommand } from '../../src/octonode/octonode.ts';
import { compileC, hosted, NODES, options, requireTool } from './nodes.ts';

const compiled = compileC(`${NODES}greet.c`);
afterAll(() => rmSync(compiled.directory, { recursive: true }));

const LANGUAGES: [language: string, command: () => NodeCommand][] = [
  ['typescript', () => hosted(`${NODES}greet.ts`)],
  ['javascript', () => hosted(`${NODES}greet.js`)],
  ['python', () => [requireTool('python3', 'python3'), `${NODES}greet.py`]],
  ['sh', () => [requireTool('jq', 'jq') && `${NODES}greet.sh`]],
  ['c', () => [compiled.program]],
  ['perl', () => [requireTool('perl', 'perl'), `${NODES}greet.pl`]],
  ['tcl', () => [requireTool('tclsh', 'tcl'), `${NODES}greet.tcl`]],
];

describe.each(LANGUAGES)('a node in %s', (language, command) => {
  it('answers one-shot', async () => {
    expect(await invokeNode(command(), { name: 'Ada' }, options())).toMatchObject({
      status: 'ok',
      outputs: { greeting: 'Hello, Ada' },
    });
  });

  it('describes itself', async () => {
    expect(await describeNode(command(), options())).toMatchObject({
      status: 'ok',
      manifest: { id: 'greet', language },
    });
  });

  it('answers as a worker', async () => {
    const worker = createNodeWorker(command(), options());
    const names = Array.from({ length: 20 }, (_, index) => `N${index}`);

    const answers = await Promise.all(names.map((name) => worker.invoke({ name })));

    expect(answers.map((answer) => answer.status === 'ok' && answer.outputs)).toEqual(
      names.map((name) => ({ greeting: `Hello, ${name}` })),
    );
    expect(worker.status().starts).toBe(1);
    await worker.close();
  });
});
