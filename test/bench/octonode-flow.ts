// What running a workflow costs beside the calls themselves: 200 worker nodes as a flow, and as calls made directly on
// the engine with as many at once. Both start their worker, call, and close it. Reading the file is told apart: it costs
// once what the length of the text costs, whatever is called.
import { randomUUID } from 'node:crypto';
import { checkWorkflow, createMask, runFlow } from '../../src/octonode/flow/flow.ts';
import { createNodeWorker, type NodeCommand } from '../../src/octonode/octonode.ts';
import { parseProject } from '../../src/octonode/project/project.ts';
import { systemClock } from '../../src/support/clock.ts';
import { NODES, options } from '../octonode/nodes.ts';
import { type Bench, compare, median } from './figure.ts';

const BURROW = process.env.BURROW_BINARY ?? new URL('../../dist/burrow', import.meta.url).pathname;
const STEPS = 200;
const JOBS = 8;
const NODE: NodeCommand = [BURROW, 'node', 'host', `${NODES}echo.ts`];

export const octonodeFlow: Bench = {
  name: 'octonode-flow',
  async run() {
    const readMs: number[] = [];
    const { a, b, ratio } = await compare(7, () => asFlow(readMs), directly);
    return [
      {
        name: `a flow of ${STEPS} worker nodes, of the same calls on the engine`,
        value: ratio,
        unit: '×',
        limit: { kind: 'max', value: 1.5 },
        detail: `${a.toFixed(0)} ms and ${b.toFixed(0)} ms, ${JOBS} at once; the file was read in ${median(readMs).toFixed(0)} ms`,
      },
    ];
  },
};

/** From the project to the record. */
async function asFlow(readMs: number[]): Promise<number> {
  const text = projectText();
  const readAt = performance.now();
  const reading = await parseProject(text);
  const startedAt = performance.now();
  readMs.push(startedAt - readAt);
  if (reading.status === 'invalid') throw new Error('The benchmarked project is not valid');
  const checked = checkWorkflow({ ...reading.parsed, path: `${NODES}.octonode`, directory: NODES }, 0);
  if (checked.status === 'refused') throw new Error('The benchmarked workflow is not valid');
  const record = await runFlow(
    { clock: systemClock, random: Math.random, createId: randomUUID },
    checked.plan,
    {
      inputs: { n: 1 },
      environment: { name: undefined, vars: {}, secrets: new Map() },
      mask: createMask([]),
      signal: new AbortController().signal,
      jobs: JOBS,
      env: options().env,
      own: [BURROW],
      onEvent: (event) => void JSON.stringify(event),
      onStderr: () => {},
      onWarning: () => {},
    },
  );
  if (record.status !== 'ok' || record.nodes.length !== STEPS) throw new Error('The benchmarked flow failed');
  return performance.now() - startedAt;
}

async function directly(): Promise<number> {
  const startedAt = performance.now();
  const worker = createNodeWorker(NODE, { ...options(), concurrency: JOBS });
  let left = STEPS;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { status } = await worker.invoke({ n: 1 });
      if (status !== 'ok') throw new Error('A benchmarked call failed');
    }
  };
  await Promise.all(Array.from({ length: JOBS }, lane));
  await worker.close();
  return performance.now() - startedAt;
}

/** 200 nodes of one program, the last of them waiting for all others. */
function projectText(): string {
  const ids = Array.from({ length: STEPS }, (_, index) => `echo-${index}`);
  const edges = ids
    .slice(0, -1)
    .map((id) => `{from: {node: ${id}}, to: {node: ${ids.at(-1)}}, kind: control}`);
  return [
    'apiVersion: octonode.dev/v1',
    'nodes:',
    '- id: echo',
    '  signature: {language: typescript, command: [burrow, node, host, echo.ts]}',
    '  runtime: {mode: worker}',
    'workflows:',
    '- id: all',
    `  nodes: [${ids.map((id) => `{id: ${id}, node: echo}`).join(', ')}]`,
    `  edges: [${edges.join(', ')}]`,
    '',
  ].join('\n');
}
