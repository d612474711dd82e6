import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { backoffMs } from '../../../src/octonode/flow/run-flow.ts';
import { scripted } from '../nodes.ts';
import { chain, directory, run, statuses, stepNodes } from './flows.ts';

afterAll(() => rmSync(directory, { recursive: true }));

/** A workflow `w` over nodes that are all step.py, each with its own inputs. */
function flow(
  bindings: Record<string, object>,
  edges: object[] = [],
  more: object = {},
  runtime: object = {},
): object {
  const nodes = Object.keys(bindings);
  return { nodes: stepNodes(nodes, runtime), workflows: [{ id: 'w', nodes, edges, bindings, ...more }] };
}

describe('runFlow()', () => {
  it('carries outputs through a diamond', async () => {
    const edges = [
      ...chain('top', 'left', 'end'),
      { from: { node: 'top', output: 'sum' }, to: { node: 'right', input: 'a' } },
      { from: { node: 'right', output: 'sum' }, to: { node: 'end', input: 'b' } },
    ];

    const { record, calls } = await run(flow({ top: { a: 1 }, left: {}, right: { b: 10 }, end: {} }, edges));

    expect(record).toMatchObject({ status: 'ok', workflow: 'w' });
    expect(record.nodes.map(({ id, outputs }) => [id, (outputs as { sum: number }).sum])).toEqual([
      ['top', 2],
      ['left', 3],
      ['right', 13],
      ['end', 17],
    ]);
    expect(calls.map(({ step }) => step).at(0)).toBe('top');
    expect(calls.map(({ step }) => step).at(-1)).toBe('end');
  });

  it('merges whole outputs, and hands the inputs of the flow to entries alone', async () => {
    const edges = [
      { from: { node: 'a' }, to: { node: 'b' } },
      { from: { node: 'a', output: 'saw' }, to: { node: 'c', input: 'b' }, kind: 'control' },
    ].map(({ kind, from, to }) =>
      kind === undefined ? { from, to } : { kind, from: { node: from.node }, to: { node: to.node } },
    );

    const { calls } = await run(flow({ a: { b: '$inputs.n' }, b: { sleep: 0 }, c: {} }, edges), {
      inputs: { n: 4 },
    });

    const inputs = Object.fromEntries(calls.map((call) => [call.step, call.inputs]));
    expect(inputs).toEqual({
      a: { n: 4, b: 4 },
      b: { sleep: 0, sum: 5, saw: { n: 4, b: 4 }, secret: null },
      c: {},
    });
  });

  it('fans out over 200 nodes of one worker, with no more at once than it may', async () => {
    const steps = Array.from({ length: 200 }, (_, index) => ({ id: `s${index}`, node: 'step' }));
    const edges = steps.map(({ id }) => ({
      from: { node: 'first', output: 'sum' },
      to: { node: id, input: 'a' },
    }));
    const content = {
      nodes: stepNodes(['first', 'step'], { mode: 'worker' }),
      workflows: [{ id: 'w', nodes: ['first', ...steps], edges }],
    };
    let running = 0;
    let most = 0;

    const { record, calls } = await run(content, {
      onEvent: ({ event }) => {
        running += event === 'node.started' ? 1 : event === 'node.ended' ? -1 : 0;
        most = Math.max(most, running);
      },
    });

    expect(record.status).toBe('ok');
    expect(record.nodes).toHaveLength(201);
    expect(calls).toHaveLength(201);
    expect(new Set(calls.map(({ pid }) => pid)).size).toBe(1);
    expect(most).toBe(8);
  });

  it('keeps to the concurrency of a node, whatever its steps are called', async () => {
    const steps = ['x', 'y', 'z'].map((id) => ({ id, node: 'step' }));
    const content = {
      nodes: stepNodes(['step'], { concurrency: 1 }),
      workflows: [{ id: 'w', nodes: steps }],
    };

    const { events } = await run(content);

    const order = events.map(({ event }) => event).filter((event) => event.startsWith('node.'));
    expect(order).toEqual([
      'node.started',
      'node.ended',
      'node.started',
      'node.ended',
      'node.started',
      'node.ended',
    ]);
  });

  it('starts a node when its own predecessors have ended, not when a level has', async () => {
    const { events } = await run(flow({ a: {}, b: {}, slow: { sleep: 0.6 } }, chain('a', 'b')));

    const ended = events.flatMap((event) => (event.event === 'node.ended' ? [event.node] : []));
    expect(ended).toEqual(['a', 'b', 'slow']);
  });

  it('tries again what says it is retryable, and succeeds at the third attempt', async () => {
    const { record, calls, events } = await run(
      flow({ a: { failures: 2 } }, [], {}, { retries: 3, retry_backoff_ms: 20 }),
    );

    expect(record).toMatchObject({ status: 'ok', nodes: [{ id: 'a', status: 'ok', attempts: 3 }] });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(events.flatMap((event) => (event.event === 'node.retry' ? [event.delayMs] : []))).toEqual([
      20, 40,
    ]);
  });

  it.each([
    ['NON_RETRYABLE', { code: 'NON_RETRYABLE', retryable: false }],
    ['RUNTIME_ERROR that is not retryable', { code: 'RUNTIME_ERROR', retryable: false }],
    ['VALIDATION_ERROR', { code: 'VALIDATION_ERROR', retryable: false }],
  ])('never tries %s again', async (_name, inputs) => {
    const { record, calls } = await run(
      flow({ a: { failures: 9, ...inputs } }, [], {}, { retries: 3, retry_backoff_ms: 1 }),
    );

    expect(calls).toHaveLength(1);
    expect(record.nodes[0]).toMatchObject({ status: 'error', attempts: 1, error: { code: inputs.code } });
  });

  it('tries a timeout again, one-shot and in a worker', async () => {
    const slow = { sleep: 30, slow_attempts: 1 };
    const settings = { timeout_ms: 700, retries: 1, retry_backoff_ms: 1 };

    const runs = await Promise.all([
      run(flow({ a: slow }, [], {}, settings)),
      run(flow({ a: slow }, [], {}, { ...settings, mode: 'worker' })),
    ]);

    for (const { record, events } of runs) {
      expect(record.nodes[0]).toMatchObject({ status: 'ok', attempts: 2 });
      expect(events.find(({ event }) => event === 'node.retry')).toMatchObject({
        error: { code: 'TIMEOUT' },
      });
    }
  });

  it('gives up after its retries, with the last error', async () => {
    const { record } = await run(flow({ a: { failures: 9 } }, [], {}, { retries: 2, retry_backoff_ms: 1 }));

    expect(record.nodes[0]).toMatchObject({ status: 'error', attempts: 3, error: { message: 'As asked' } });
  });

  it('halts: cancels what runs, skips the rest', async () => {
    const bad = { failures: 1, retryable: false };
    const content = flow(
      { bad, slow: { sleep: 60 }, after: {}, waiting: { failures: 9 } },
      chain('slow', 'after'),
      {},
      {
        retries: 1,
        retry_backoff_ms: 60_000,
      },
    );

    const { record } = await run(content);

    expect(record.status).toBe('error');
    expect(statuses(record)).toMatchObject({ bad: 'error', slow: 'cancelled', after: 'skipped' });
    expect(record.nodes.find(({ id }) => id === 'after')?.reason).toBe('node "bad" failed');
  });

  it('continues: skips the descendants of what failed and nothing else', async () => {
    const content = flow(
      { bad: { failures: 1, retryable: false }, child: {}, grandchild: {}, other: {}, next: {} },
      [...chain('bad', 'child', 'grandchild'), ...chain('other', 'next')],
      { on_error: { policy: 'continue' } },
    );

    const { record } = await run(content);

    expect(record.status).toBe('partial');
    expect(statuses(record)).toEqual({
      bad: 'error',
      child: 'skipped',
      grandchild: 'skipped',
      other: 'ok',
      next: 'ok',
    });
  });

  it.each([['one-shot'], ['worker']])(
    'is cancelled in the middle and leaves no process behind: %s',
    async (mode) => {
      const controller = new AbortController();
      const mark = `flow-test-${crypto.randomUUID()}`;
      const content = flow({ a: {}, b: { sleep: 60 }, c: {} }, chain('a', 'b', 'c'), {}, { mode });

      const { record } = await run(content, {
        signal: controller.signal,
        env: { STEP_MARK: mark, STEP_SAYS: 'x\n' },
        onStderr: (step) => step.id === 'b' && controller.abort(),
        onEvent: (event) => {
          if (mode === 'worker' && event.event === 'node.started' && event.node === 'b') controller.abort();
        },
      });

      expect(record).toMatchObject({ status: 'error', cancelled: true });
      expect(statuses(record)).toEqual({ a: 'ok', b: 'cancelled', c: 'skipped' });
      expect(processesWith(mark)).toEqual([]);
    },
  );

  it('records what the nodes themselves logged', async () => {
    const steps = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const bindings = Object.fromEntries(
      steps.map((id, index) => [id, { b: index, failures: index % 3, retryable: index % 4 !== 1 }]),
    );
    const content = flow(
      bindings,
      chain(...steps.slice(0, 4)),
      { on_error: { policy: 'continue' } },
      {
        retries: 2,
        retry_backoff_ms: 1,
      },
    );

    const { record, calls, events } = await run(content);

    for (const node of record.nodes) {
      const own = calls.filter(({ step }) => step === node.id);
      expect(own.map(({ attempt }) => attempt)).toEqual(
        Array.from({ length: node.attempts }, (_, index) => index + 1),
      );
      expect(new Set(own.map(({ runId }) => runId)).size).toBe(own.length === 0 ? 0 : 1);
      if (node.status === 'ok') expect((node.outputs as { saw: unknown }).saw).toEqual(own.at(-1)?.inputs);
    }
    expect(calls).toHaveLength(record.nodes.reduce((sum, { attempts }) => sum + attempts, 0));
    expect(events.filter(({ event }) => event === 'node.started')).toHaveLength(calls.length);
    expect(calls.every(({ runId }) => runId === record.runId)).toBe(true);
  });

  it('turns every way a node can fail into its own error', async () => {
    const content = {
      nodes: [
        { id: 'gone', signature: { command: ['/nonexistent'] } },
        { id: 'garbage', signature: { command: [...scripted('read', 'print:hello')] } },
        { id: 'crash', signature: { command: [...scripted('read', 'kill:SEGV')] } },
      ],
      workflows: [{ id: 'w', nodes: ['gone', 'garbage', 'crash'], on_error: { policy: 'continue' } }],
    };

    const { record } = await run(content);

    expect(record.status).toBe('error');
    expect(record.nodes.map(({ error }) => error?.code)).toEqual([
      'RUNTIME_ERROR',
      'RUNTIME_ERROR',
      'RUNTIME_ERROR',
    ]);
  });

  it('checks inputs and outputs against the recorded schemas', async () => {
    const [node] = stepNodes(['a']) as { signature: object }[];
    const inputs = { type: 'object', required: ['must'] };
    const content = {
      nodes: [{ ...node, signature: { ...node?.signature, inputs } }],
      workflows: [{ id: 'w', nodes: ['a'] }],
    };

    const { record, calls } = await run(content);

    expect(record.nodes[0]).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
    expect(calls).toEqual([]);
  });

  it('tells which output is not there', async () => {
    const edges = [{ from: { node: 'a', output: 'nothing' }, to: { node: 'b', input: 'x' } }];

    const { record } = await run(flow({ a: {}, b: {} }, edges));

    expect(record.nodes[1]).toMatchObject({
      attempts: 0,
      error: { code: 'VALIDATION_ERROR', message: 'Node "a" gave no output "nothing"' },
    });
  });

  it('gives variables and configuration to nodes, and masks secrets in everything that is kept', async () => {
    const secret = 'S3CR3T-"quoted"-value';
    const [node] = stepNodes(['a']) as object[];
    const content = {
      environments: {
        base: { vars: { REGION: 'eu', SIZE: 2 }, secrets: ['API_KEY'] },
        prod: { inherits: 'base', vars: { SIZE: 3 } },
      },
      nodes: [{ ...node, presentation: { config: { own: true, SIZE: 1 } } }],
      workflows: [
        { id: 'w', nodes: ['a'], bindings: { a: { where: '$vars.REGION', price: '$$5', token: secret } } },
      ],
    };

    const { record, events, calls } = await run(content, { env: { API_KEY: secret } }, 'prod');

    expect(calls[0]).toMatchObject({
      env: 'prod',
      config: { own: true, SIZE: 3, REGION: 'eu' },
      inputs: { where: 'eu', price: '$5', token: secret },
    });
    expect(record.nodes[0]?.outputs).toMatchObject({ secret: '[redacted]', saw: { token: '[redacted]' } });
    expect(JSON.stringify([record, events])).not.toContain('S3CR3T');
  });
});

describe('backoffMs()', () => {
  it('doubles, is lengthened by at most a half and never shortened, and has a bound', () => {
    expect([1, 2, 3, 4].map((attempt) => backoffMs(100, attempt, () => 0))).toEqual([100, 200, 400, 800]);
    expect(backoffMs(100, 2, () => 1)).toBe(300);
    expect(backoffMs(1_000, 60, () => 0)).toBe(300_000);
  });
});

function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });
}
