import { describe, expect, it } from 'vitest';
import { createNodeWorker, describeNode } from '../../src/octonode/octonode.ts';
import { errorOf, file, invoke } from './hosted-files.ts';
import { hosted, options } from './nodes.ts';

const SERVICE = (lifecycle: string): string => `
  let made = 0;
  export default defineService({
    id: 'counter', lifecycle: '${lifecycle}',
    create: async () => ({ number: ++made, count: 0 }),
    dispose: ({ number, count }) => console.log('disposed', number, count),
    methods: {
      add: { inputs: { type: 'number' }, run: (counter, by) => ({ number: counter.number, count: (counter.count += by) }) },
      fail: () => { throw new NodeError('no'); },
    },
  });`;

describe('services', () => {
  it.each([
    ['invocation', [1, 1, 1], ['disposed 1 1', 'disposed 2 1', 'disposed 3 1']],
    ['workflow-run', [1, 2, 1], ['disposed 1 2', 'disposed 2 1']],
    ['worker', [1, 2, 3], ['disposed 1 3']],
  ])('with lifecycle %s share and dispose their instances', async (lifecycle, counts, disposed) => {
    let text = '';
    const worker = createNodeWorker(
      hosted(file(SERVICE(lifecycle))),
      options({
        onStderr: (chunk) => {
          text += chunk;
        },
      }),
    );

    const seen: unknown[] = [];
    for (const runId of ['r', 'r', 's']) {
      const answer = await worker.invoke(1, { node: 'counter.add', context: { runId } });
      seen.push(answer.status === 'ok' && (answer.outputs as { count: number }).count);
    }
    await worker.close();

    expect(seen).toEqual(counts);
    expect(text.trim().split('\n').sort()).toEqual(disposed);
  });

  it('dispose also when the method throws, and check inputs of the method', async () => {
    let text = '';
    const source = SERVICE('invocation');

    expect(
      errorOf(
        await invoke(source, 1, {
          node: 'counter.fail',
          onStderr: (chunk) => {
            text += chunk;
          },
        }),
      ).code,
    ).toBe('NON_RETRYABLE');
    expect(text).toContain('disposed 1 0');
    expect(errorOf(await invoke(source, 'x', { node: 'counter.add' }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { errors: [{ path: '' }] },
    });
  });

  it.each([[undefined], ['counter'], ['counter.nope'], ['other.add']])(
    'refuse the address %s',
    async (node) => {
      expect(errorOf(await invoke(SERVICE('worker'), 1, node === undefined ? {} : { node }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { nodes: ['counter.add', 'counter.fail'] },
      });
    },
  );

  it('describe their methods', async () => {
    const described = await describeNode(hosted(file(SERVICE('worker'))), options());

    expect(described).toMatchObject({
      manifest: {
        kind: 'service',
        service: { lifecycle: 'worker', methods: [{ name: 'add', params: [] }, { name: 'fail' }] },
      },
    });
  });

  it('are made from a class', async () => {
    const source = `class Counter {
      #count = 0;
      add(by: number) { this.#count += by; return this.#count; }
      dispose() { console.log('disposed', this.#count); }
    }
    export default defineClass({ id: 'counter', class: Counter });`;
    let text = '';
    const worker = createNodeWorker(
      hosted(file(source)),
      options({
        onStderr: (chunk) => {
          text += chunk;
        },
      }),
    );

    await worker.invoke(2, { node: 'counter.add' });
    expect(await worker.invoke(3, { node: 'counter.add' })).toMatchObject({ outputs: 5 });
    expect(await worker.describe()).toMatchObject({
      manifest: { kind: 'class', service: { lifecycle: 'worker', methods: [{ name: 'add' }] } },
    });
    await worker.close();
    expect(text).toBe('disposed 5\n');
  });
});
