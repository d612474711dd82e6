import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { checkWorkflow, resolveEnvironment } from '../../../src/octonode/flow/flow.ts';
import { chain, directory, planOf, problemsOf, projectOf, stepNodes } from './flows.ts';

afterAll(() => rmSync(directory, { recursive: true }));

const nodes = stepNodes(['a', 'b', 'c', 'd']);

function workflow(more: object): object {
  return { nodes, workflows: [{ id: 'w', nodes: ['a', 'b', 'c', 'd'], ...more }] };
}

const edge = (from: string, to: string, more: object = {}): object => ({
  from: { node: from },
  to: { node: to },
  ...more,
});

describe('checkWorkflow()', () => {
  it.each<[string, object, string[]]>([
    [
      'a cycle, with its path',
      { edges: [...chain('a', 'b', 'c', 'd'), edge('d', 'b')] },
      ['Cycle: b → c → d → b'],
    ],
    ['a node that waits for itself', { edges: [edge('a', 'a', { kind: 'control' })] }, ['Cycle: a → a']],
    [
      'two cycles',
      {
        edges: [...chain('a', 'b'), edge('b', 'a'), ...chain('c', 'd'), edge('d', 'c', { kind: 'control' })],
      },
      ['Cycle: a → b → a', 'Cycle: c → d → c'],
    ],
    ['an unknown node', { nodes: ['a', 'x'] }, ['Node "x" is not in the project']],
    [
      'a node that stands twice',
      { nodes: ['a', 'a'] },
      ['Node "a" stands twice; give one a name: {id: a-2, node: a}'],
    ],
    [
      'an edge into nowhere and one out of it',
      { edges: [edge('a', 'x'), edge('y', 'b')] },
      [
        'Edge from "a" to "x": "x" is no node of the workflow',
        'Edge from "y" to "b": "y" is no node of the workflow',
      ],
    ],
    [
      'a control edge that carries',
      { edges: [{ from: { node: 'a', output: 'o' }, to: { node: 'b' }, kind: 'control' }] },
      ['Edge from "a" to "b": a control edge carries nothing, so it names no output and no input'],
    ],
    [
      'an input that is fed twice',
      { edges: [...chain('a', 'c'), ...chain('b', 'c')] },
      ['Input "a" of node "c" is fed by edge 1 already'],
    ],
    ['an unknown entry', { entry: 'x', nodes: [] }, ['Entry "x" is no node of the workflow']],
    [
      'what the entry does not reach',
      { entry: ['a'], edges: [edge('a', 'b'), edge('c', 'd'), edge('a', 'c', { kind: 'dependency' })] },
      ['Node "c" is not reached from entry "a"', 'Node "d" is not reached from entry "a"'],
    ],
    [
      'bad bindings',
      { bindings: { x: { i: 1 }, a: { i: '$output.x', j: '$vars', k: '$inputs.ok', l: '$$fine' } } },
      [
        'Binding for "x": it is no node of the workflow',
        'Binding "a.i": "$output.x" is neither $inputs… nor $vars.NAME; a text that begins with $ is written $$',
        'Binding "a.j": "$vars" names no variable: $vars.NAME',
      ],
    ],
  ])('refuses %s', async (_name, more, expected) => {
    expect(await problemsOf(workflow(more))).toEqual(expected.map((message) => `Workflow "w": ${message}`));
  });

  it('tells everything at once, each with its line', async () => {
    const project = await projectOf(
      workflow({
        nodes: ['a', 'b', 'nowhere'],
        edges: [...chain('a', 'b', 'a'), edge('b', 'gone')],
        bindings: { q: {} },
      }),
    );

    const checked = checkWorkflow(project, 0);

    const problems = checked.status === 'refused' ? checked.problems : [];
    expect(problems).toHaveLength(4);
    expect(new Set(problems.map(({ line }) => line)).size).toBe(4);
  });

  it.each([
    ['disabled', { disabled: true }, 'Node "z" is disabled'],
    [
      'orphaned',
      { signature: { command: ['x'], orphaned: true } },
      'Node "z" is orphaned: no source describes it any more',
    ],
    ['not recorded', {}, 'Node "z" has no command; burrow scan records it'],
  ])('refuses a node that is %s', async (_name, more, message) => {
    const content = { nodes: [{ id: 'z', ...more }], workflows: [{ id: 'w', nodes: ['z'] }] };

    expect(await problemsOf(content)).toEqual([`Workflow "w": ${message}`]);
  });

  it('refuses outputs and inputs that the recorded schemas do not have', async () => {
    const closed = { type: 'object', properties: { known: {} }, additionalProperties: false };
    const strict = nodes.map((node) => ({
      ...node,
      signature: { command: ['x'], inputs: closed, outputs: closed },
    }));
    const edges = [{ from: { node: 'a', output: 'other' }, to: { node: 'b', input: 'more' } }];

    expect(await problemsOf({ nodes: strict, workflows: [{ id: 'w', nodes: ['a', 'b'], edges }] })).toEqual([
      'Workflow "w": Edge from "a" to "b": node "a" has no output "other"',
      'Workflow "w": Edge from "a" to "b": node "b" has no input "more"',
    ]);
  });

  it('takes dependency edges for no order at all', async () => {
    const plan = await planOf(
      workflow({ edges: [edge('a', 'b', { kind: 'dependency' }), edge('b', 'a', { kind: 'dependency' })] }),
    );

    expect(plan.steps.map(({ predecessors }) => predecessors)).toEqual([[], [], [], []]);
  });

  it('finds the cycle in two thousand nodes', async () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => ({ id: `n${index}`, node: 'a' }));
    const names = ids.map(({ id }) => id);
    const edges = [...chain(...names), edge('n1999', 'n1997')];

    expect(await problemsOf({ nodes, workflows: [{ id: 'w', nodes: ids, edges }] })).toEqual([
      'Workflow "w": Cycle: n1997 → n1998 → n1999 → n1997',
    ]);
  });

  it.each([
    [{ a: { inherits: 'x' } }, 'Environment "a": "x" does not exist'],
    [{ a: { inherits: 'b' }, b: { inherits: 'a' } }, 'Environment "a": Cycle: a → b → a'],
    [{ a: { vars: { 'X=Y': 1 } } }, 'Environment "a": "X=Y" cannot be the name of a variable'],
  ])('refuses environments such as %j', async (environments, message) => {
    expect(await problemsOf({ ...workflow({}), environments })).toContain(message);
  });
});

describe('resolveEnvironment()', () => {
  const environments = {
    default: { vars: { A: 1 } },
    base: { vars: { A: 1, B: 2 }, secrets: ['ONE'] },
    other: { vars: { B: 3 }, secrets: { TWO: '$FROM' } },
    prod: { inherits: ['base', 'other'], vars: { A: 4 } },
  };

  it('lays each environment over those it inherits from', async () => {
    const resolved = resolveEnvironment(await projectOf({ environments }), 'prod', { ONE: '1', FROM: '2' });

    expect(resolved).toEqual({
      status: 'ok',
      environment: {
        name: 'prod',
        vars: { A: 4, B: 3 },
        secrets: new Map([
          ['ONE', '1'],
          ['TWO', '2'],
        ]),
      },
    });
  });

  it('takes the default environment when none is named, and none when there is none', async () => {
    expect(resolveEnvironment(await projectOf({ environments }), undefined, {})).toMatchObject({
      environment: { name: 'default' },
    });
    expect(resolveEnvironment(await projectOf({}), undefined, {})).toMatchObject({
      environment: { name: undefined },
    });
  });

  it('refuses when a secret is not there, and does not say what the file holds in its place', async () => {
    const content = { environments: { e: { secrets: { KEY: 'sk-live-pasted-by-mistake' } } } };

    const resolved = resolveEnvironment(await projectOf(content), 'e', {});

    expect(resolved).toMatchObject({
      problems: [{ message: 'Environment "e": Secret "KEY" is not set in the environment of the caller' }],
    });
  });
});
