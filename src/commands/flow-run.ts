// `burrow flow run`: one workflow from start to end. Outputs on stdout, or with `--json` every event and the record last.

import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  checkWorkflow,
  createMask,
  createStderrLines,
  DEFAULT_FLOW_JOBS,
  type FlowEnvironment,
  type FlowPlan,
  outputsOf,
  type RunRecord,
  resolveEnvironment,
  runFlow,
  unboundReferences,
} from '../octonode/flow/flow.ts';
import type { Project } from '../octonode/project/project.ts';
import { createChildEnvironment } from '../process/environment.ts';
import { writeFileAtomic } from '../support/atomic-file.ts';
import { systemRandom } from '../support/random.ts';
import { type Call, type Command, nearest, UsageError } from './command.ts';
import { projectAround, workflowIndex } from './flow-project.ts';
import { createFlowView, jsonText } from './flow-view.ts';
import { countFlag, durationFlag, interruptible, readInputs } from './node-options.ts';
import { ownCommand } from './own-command.ts';
import { reportProblems } from './project-problems.ts';
import { EXIT } from './system.ts';

export const flowRunCommand: Command = {
  meta: { name: 'run', description: 'Run a workflow of .octonode and print its outputs as one JSON line' },
  args: {
    id: { type: 'positional', description: 'The workflow', valueHint: 'ID' },
    inputs: { type: 'string', valueHint: 'JSON|@FILE|-', description: 'The inputs of the flow (default {})' },
    env: {
      type: 'string',
      valueHint: 'NAME',
      description: 'The environment (default: "default", when there is one)',
    },
    jobs: {
      type: 'string',
      valueHint: 'N',
      description: `Most calls at once (default ${DEFAULT_FLOW_JOBS})`,
    },
    timeout: {
      type: 'string',
      valueHint: '10m',
      description: 'Cancel the run after this long (default: never)',
    },
    json: { type: 'boolean', description: 'Print every event as a JSON line, the run record last' },
    record: { type: 'string', valueHint: 'FILE', description: 'Write the run record to FILE' },
  },
  examples: [
    {
      command: `burrow flow run orders --inputs '{"day":"2030-01-31"}'`,
      does: 'run a workflow and print its outputs',
    },
    {
      command: 'burrow flow run orders --env prod --json --record run.json',
      does: 'follow it as JSON lines, keep the record',
    },
  ],
  run: (call) => interruptible(call.system, (signal) => run(call, signal)),
};

async function run(call: Call, signal: AbortSignal): Promise<number> {
  const { system, flags, positionals } = call;
  const loaded = await projectAround(system);
  if (loaded.status === 'invalid') return reportProblems(loaded.path, loaded.problems, system);
  const { project } = loaded;
  const index = workflowIndex(project, positionals[0] ?? '');
  const checked = checkWorkflow(project, index);
  if (checked.status === 'refused') return reportProblems(project.path, checked.problems, system);
  const resolved = resolveEnvironment(project, environmentName(call, project), system.env);
  if (resolved.status === 'refused') return reportProblems(project.path, resolved.problems, system);
  const { plan } = checked;
  const { environment } = resolved;
  const inputs = await readInputs(call);
  const unbound = unboundReferences(plan, { inputs, vars: environment.vars });
  const place = project.locate(['workflows', index, 'bindings']);
  if (unbound.length > 0)
    return reportProblems(
      project.path,
      unbound.map((message) => ({ ...place, message })),
      system,
    );
  const recordFile = recordPath(call);

  const limit = timeLimit(call, signal);
  const record = await follow(call, { plan, environment, inputs, signal: limit.signal });
  limit.end();
  if (recordFile !== undefined) await writeFileAtomic(recordFile, `${jsonText(record, 2)}\n`);
  if (flags.json !== true && record.status !== 'error')
    system.stdout.write(`${jsonText(outputsOf(record, lastSteps(plan))) ?? 'null'}\n`);
  if (limit.isOver()) return EXIT.timedOut;
  return record.status === 'ok' ? EXIT.done : EXIT.failed;
}

interface Followed {
  plan: FlowPlan;
  environment: FlowEnvironment;
  inputs: unknown;
  signal: AbortSignal;
}

async function follow(call: Call, { plan, environment, inputs, signal }: Followed): Promise<RunRecord> {
  const { system, flags } = call;
  const mask = createMask([...environment.secrets.values()]);
  const view = createFlowView(system, { plan, isJson: flags.json === true });
  const stderr = createStderrLines(mask, view.write);
  const record = await runFlow({ clock: system.clock, random: systemRandom, createId: randomUUID }, plan, {
    inputs,
    environment,
    mask,
    signal,
    jobs: countFlag(flags, 'jobs', DEFAULT_FLOW_JOBS),
    env: createChildEnvironment(system.env)(variables(environment)),
    own: ownCommand(),
    onEvent: view.event,
    onStderr: (step, chunk) => stderr.push(step.mode === 'worker' ? step.entry.id : step.id, chunk),
    onWarning: (sentence) => view.write(`burrow: ${mask.text(sentence)}\n`),
  });
  stderr.end();
  view.end(record);
  return record;
}

/** What the processes of the nodes find in their environment: variables as text, and the secrets. */
function variables({ vars, secrets }: FlowEnvironment): [string, string][] {
  const texts = Object.entries(vars)
    .filter(([, value]) => value !== null)
    .map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
  return [...texts, ...secrets];
}

function lastSteps({ steps }: FlowPlan): string[] {
  return steps.filter(({ successors }) => successors.length === 0).map(({ id }) => id);
}

function environmentName({ flags }: Call, project: Project): string | undefined {
  const name = flags.env;
  if (typeof name !== 'string') return undefined;
  const names = Object.keys(project.content.environments ?? {});
  if (names.includes(name)) return name;
  const near = nearest(name, names);
  throw new UsageError(
    `Environment "${name}" is not in "${project.path}"`,
    near === undefined ? `Environments: ${names.join(', ') || 'none'}` : `Did you mean "${near}"?`,
  );
}

/** Checked before anything runs: a record that cannot be written would be missed at the end. */
function recordPath({ flags, system }: Call): string | undefined {
  if (typeof flags.record !== 'string') return undefined;
  const path = resolve(system.cwd, flags.record);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`Flag "--record": "${dirname(path)}" is no directory`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UsageError(`Flag "--record": "${path}" is a directory`);
  return path;
}

function timeLimit(
  { flags, system }: Call,
  signal: AbortSignal,
): { signal: AbortSignal; isOver(): boolean; end(): void } {
  const timeoutMs = durationFlag(flags, 'timeout');
  if (timeoutMs === undefined) return { signal, isOver: () => false, end() {} };
  const over = new AbortController();
  const timer = system.clock.startTimer(timeoutMs, () => over.abort());
  return {
    signal: AbortSignal.any([signal, over.signal]),
    isOver: () => over.signal.aborted && !signal.aborted,
    end: () => timer.cancel(),
  };
}
