// A workflow made ready to run: each step with its program, what it waits for and what flows into it. Everything that is
// wrong is told at once, with the place in the file; nothing is started here.

import { resolve } from 'node:path';
import type { NodeCommand } from '../octonode.ts';
import {
  commandOf,
  findNode,
  type NodeEntry,
  type Project,
  type ProjectProblem,
  type Workflow,
} from '../project/project.ts';
import { readBindings, type StepBinding } from './bindings.ts';
import { checkShape } from './check-shape.ts';
import type { DraftStep, Findings } from './draft.ts';
import { type DataEdge, readEdges } from './edges.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, DEFAULT_BACKOFF_MS, MAX_STEPS } from './limits.ts';

export interface PlanStep {
  index: number;
  id: string;
  entry: NodeEntry;
  /** What the program is asked for: the id of the node, or `service.method`. */
  target: string;
  command: NodeCommand;
  cwd: string;
  mode: 'one-shot' | 'worker';
  timeoutMs: number;
  retries: number;
  backoffMs: number;
  /** Most calls of this node at once. */
  concurrency: number;
  /** It gets the inputs of the flow. */
  isEntry: boolean;
  bindings: readonly StepBinding[];
  dataIn: readonly DataEdge[];
  /** By index: steps that must have ended before, and steps that wait for this one. */
  predecessors: readonly number[];
  successors: readonly number[];
}

export interface FlowPlan {
  workflowId: string;
  steps: readonly PlanStep[];
  policy: 'halt' | 'continue';
}

export type Planned = { status: 'ok'; plan: FlowPlan } | { status: 'refused'; problems: ProjectProblem[] };

export function planWorkflow(project: Project, index: number): Planned {
  const workflow = project.content.workflows?.[index];
  if (workflow === undefined) throw new Error(`Project has no workflow ${index}`);
  const problems: ProjectProblem[] = [];
  const findings: Findings = {
    add: (path, message) =>
      void problems.push({
        ...project.locate(['workflows', index, ...path]),
        message: `Workflow "${workflow.id}": ${message}`,
      }),
  };
  const drafts = readSteps(project, workflow, findings);
  const positions = new Map(drafts.map(({ id }, position) => [id, position]));
  const edges = readEdges(workflow, { drafts, positions }, findings);
  const entries = checkShape(workflow, { drafts, positions, edges }, findings);
  const bindings = readBindings(workflow, { drafts, positions }, findings);
  if (problems.length > 0) return { status: 'refused', problems };
  const steps = drafts.map((draft, position) =>
    finishStep(project, draft, {
      index: position,
      isEntry: entries.has(position),
      bindings: bindings[position] ?? [],
      dataIn: edges.dataIn[position] ?? [],
      predecessors: [...(edges.predecessors[position] ?? [])],
      successors: [...(edges.successors[position] ?? [])],
    }),
  );
  return {
    status: 'ok',
    plan: { workflowId: workflow.id, steps, policy: workflow.on_error?.policy ?? 'halt' },
  };
}

function readSteps(project: Project, { nodes }: Workflow, findings: Findings): DraftStep[] {
  if (nodes.length > MAX_STEPS) findings.add(['nodes'], `It has more than ${MAX_STEPS} nodes`);
  const entries = project.content.nodes ?? [];
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const seen = new Set<string>();
  return nodes.slice(0, MAX_STEPS).flatMap((step, position) => {
    const id = typeof step === 'string' ? step : step.id;
    const target = typeof step === 'string' ? step : (step.node ?? step.id);
    if (seen.has(id)) {
      findings.add(
        ['nodes', position],
        `Node "${id}" stands twice; give one a name: {id: ${id}-2, node: ${target}}`,
      );
      return [];
    }
    seen.add(id);
    const entry = byId.get(target) ?? findNode(entries, target);
    const reason = whyUnusable(entry, target);
    if (reason !== undefined) findings.add(['nodes', position], reason);
    const own = typeof step === 'string' ? undefined : step.runtime;
    return [{ id, target, entry, runtime: { ...entry?.runtime, ...own } }];
  });
}

function whyUnusable(entry: NodeEntry | undefined, target: string): string | undefined {
  if (entry === undefined) return `Node "${target}" is not in the project`;
  if (entry.disabled === true) return `Node "${target}" is disabled`;
  if (entry.signature?.orphaned === true)
    return `Node "${target}" is orphaned: no source describes it any more`;
  if (commandOf(entry.signature) === undefined)
    return `Node "${target}" has no command; burrow scan records it`;
  return undefined;
}

type Wiring = Pick<PlanStep, 'index' | 'isEntry' | 'bindings' | 'dataIn' | 'predecessors' | 'successors'>;

function finishStep(project: Project, { id, target, entry, runtime }: DraftStep, wiring: Wiring): PlanStep {
  const command = commandOf(entry?.signature);
  if (entry === undefined || command === undefined) throw new Error(`Step "${id}" was not checked`);
  return {
    id,
    entry,
    target,
    command,
    cwd: resolve(project.directory, entry.signature?.cwd ?? '.'),
    mode: runtime.mode ?? 'one-shot',
    timeoutMs: runtime.timeout_ms ?? DEFAULT_ATTEMPT_TIMEOUT_MS,
    retries: runtime.retries ?? 0,
    backoffMs: runtime.retry_backoff_ms ?? DEFAULT_BACKOFF_MS,
    concurrency: runtime.concurrency ?? Number.POSITIVE_INFINITY,
    ...wiring,
  };
}
