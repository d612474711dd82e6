// What the tests of workflows share: a project in memory whose nodes log each call, and a run of one of its workflows.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkWorkflow,
  createMask,
  type FlowEvent,
  type FlowPlan,
  type FlowRunOptions,
  type RunRecord,
  resolveEnvironment,
  runFlow,
} from '../../../src/octonode/flow/flow.ts';
import { type Project, parseProject } from '../../../src/octonode/project/project.ts';
import { systemClock } from '../../../src/support/clock.ts';
import { NODES } from '../nodes.ts';

export const directory = mkdtempSync(join(tmpdir(), 'octonode-flow-'));

/** Nodes of the names given, all of them `step.py`. */
export function stepNodes(names: readonly string[], runtime: object = {}): object[] {
  return names.map((id) => ({
    id,
    signature: { language: 'python', command: ['python3', `${NODES}step.py`] },
    runtime,
  }));
}

/** `a > b > c`: data edges from each `sum` into the next one's `a`. */
export function chain(...names: string[]): object[] {
  return names.slice(1).map((to, index) => ({
    from: { node: names[index], output: 'sum' },
    to: { node: to, input: 'a' },
  }));
}

export async function projectOf(content: object): Promise<Project> {
  const reading = await parseProject(JSON.stringify({ apiVersion: 'octonode.dev/v1', ...content }, null, 1));
  if (reading.status === 'invalid') throw new Error(JSON.stringify(reading.problems));
  return { ...reading.parsed, path: join(directory, '.octonode'), directory };
}

export async function problemsOf(content: object): Promise<string[]> {
  const checked = checkWorkflow(await projectOf(content), 0);
  return checked.status === 'ok' ? [] : checked.problems.map(({ message }) => message);
}

export async function planOf(content: object): Promise<FlowPlan> {
  const checked = checkWorkflow(await projectOf(content), 0);
  if (checked.status === 'refused') throw new Error(JSON.stringify(checked.problems));
  return checked.plan;
}

interface Ran {
  record: RunRecord;
  events: FlowEvent[];
  /** One for each call, as the nodes themselves logged it. */
  calls: {
    pid: number;
    step: string;
    attempt: number;
    inputs: unknown;
    runId: string;
    config: unknown;
    env?: string;
  }[];
  stderr: string;
}

let runs = 0;

export async function run(
  content: object,
  more: Partial<FlowRunOptions> & {
    env?: Record<string, string>;
    random?: () => number;
    environment?: never;
  } = {},
  environmentName?: string,
): Promise<Ran> {
  runs += 1;
  const log = join(directory, `log-${runs}`);
  const project = await projectOf(content);
  const callerEnv = { ...(process.env as Record<string, string>), STEP_LOG: log, ...more.env };
  const resolved = resolveEnvironment(project, environmentName, callerEnv);
  if (resolved.status === 'refused') throw new Error(JSON.stringify(resolved.problems));
  const { environment } = resolved;
  const events: FlowEvent[] = [];
  let stderr = '';
  const record = await runFlow(
    { clock: systemClock, random: more.random ?? (() => 0), createId: () => crypto.randomUUID() },
    await planOf(content),
    {
      inputs: {},
      mask: createMask([...environment.secrets.values()]),
      signal: new AbortController().signal,
      jobs: 8,
      own: ['false'],
      onStderr: (_step, chunk) => {
        stderr += chunk;
      },
      onWarning: () => {},
      ...more,
      environment,
      env: { ...callerEnv, ...Object.fromEntries(environment.secrets) },
      onEvent: (event) => {
        events.push(event);
        more.onEvent?.(event);
      },
    },
  );
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  return { record, events, calls: lines.map((line) => JSON.parse(line)), stderr };
}

export function statuses(record: RunRecord): Record<string, string> {
  return Object.fromEntries(record.nodes.map(({ id, status }) => [id, status]));
}
