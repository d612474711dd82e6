// Workflows of a project: checked as a whole before anything starts, run as fast as their edges and bounds allow. A run ends
// in one record of what every node did; nothing outlives it.

import type { Project, ProjectProblem } from '../project/project.ts';
import { checkEnvironments } from './environment.ts';
import { type FlowPlan, planWorkflow } from './plan.ts';

export { type FlowEnvironment, resolveEnvironment } from './environment.ts';
export { DEFAULT_FLOW_JOBS } from './limits.ts';
export { createMask } from './mask.ts';
export type { FlowPlan } from './plan.ts';
export { type FlowEvent, outputsOf, type RunRecord } from './record.ts';
export { type FlowRunOptions, runFlow } from './run-flow.ts';
export { createStderrLines } from './stderr-lines.ts';
export { unboundReferences } from './step-inputs.ts';

export type CheckedWorkflow =
  | { status: 'ok'; plan: FlowPlan }
  | { status: 'refused'; problems: ProjectProblem[] };

/** The plan of the workflow at `index` in the project, or everything that is wrong with it and with the environments. */
export function checkWorkflow(project: Project, index: number): CheckedWorkflow {
  const planned = planWorkflow(project, index);
  const problems = [...checkUnique(project), ...checkEnvironments(project)];
  if (planned.status === 'refused') problems.push(...planned.problems);
  else if (problems.length === 0) return planned;
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { status: 'refused', problems };
}

/** Ids that stand for two things. */
function checkUnique(project: Project): ProjectProblem[] {
  const { nodes, workflows } = project.content;
  return [
    ...repeated(nodes ?? []).map((index) => ({
      ...project.locate(['nodes', index]),
      message: `Node "${nodes?.[index]?.id}" stands twice in the project`,
    })),
    ...repeated(workflows ?? []).map((index) => ({
      ...project.locate(['workflows', index]),
      message: `Workflow "${workflows?.[index]?.id}" stands twice in the project`,
    })),
  ];
}

function repeated(items: readonly { id: string }[]): number[] {
  const seen = new Set<string>();
  return items.flatMap(({ id }, index) => (seen.size === seen.add(id).size ? [index] : []));
}
