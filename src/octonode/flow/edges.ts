// The edges of a workflow: data edges carry an output into an input and order, control edges order, dependency edges only
// say that two nodes belong together. What an edge names must be there; no input is fed twice.

import type { Workflow, WorkflowEdge } from '../project/project.ts';
import type { Findings, Steps } from './draft.ts';

export interface DataEdge {
  /** Index of the step whose outputs it carries. */
  from: number;
  /** One key; the whole outputs without it. */
  output: string | undefined;
  /** One key; merged into the inputs without it. */
  input: string | undefined;
}

export interface Edges {
  /** By index of the step. */
  dataIn: DataEdge[][];
  predecessors: Set<number>[];
  successors: Set<number>[];
}

export function readEdges({ edges }: Workflow, steps: Steps, findings: Findings): Edges {
  const result: Edges = {
    dataIn: steps.drafts.map(() => []),
    predecessors: steps.drafts.map(() => new Set()),
    successors: steps.drafts.map(() => new Set()),
  };
  const fed = new Map<string, number>();
  for (const [index, edge] of (edges ?? []).entries()) {
    const ends = endsOf(edge, steps, (message) => findings.add(['edges', index], message));
    if (ends === undefined || edge.kind === 'dependency') continue;
    result.predecessors[ends.to]?.add(ends.from);
    result.successors[ends.from]?.add(ends.to);
    if (edge.kind === 'control') continue;
    const { output } = edge.from;
    const { input } = edge.to;
    const place = JSON.stringify([ends.to, input]);
    const first = fed.get(place);
    if (input !== undefined && first !== undefined)
      findings.add(
        ['edges', index],
        `Input "${input}" of node "${edge.to.node}" is fed by edge ${first + 1} already`,
      );
    fed.set(place, index);
    result.dataIn[ends.to]?.push({ from: ends.from, output, input });
  }
  return result;
}

function endsOf(
  edge: WorkflowEdge,
  { drafts, positions }: Steps,
  complain: (message: string) => void,
): { from: number; to: number } | undefined {
  const { from, to, kind = 'data' } = edge;
  const name = `Edge from "${from.node}" to "${to.node}"`;
  const [start, end] = [positions.get(from.node), positions.get(to.node)];
  if (start === undefined) complain(`${name}: "${from.node}" is no node of the workflow`);
  if (end === undefined) complain(`${name}: "${to.node}" is no node of the workflow`);
  if (kind !== 'data' && (from.output !== undefined || to.input !== undefined))
    complain(`${name}: a ${kind} edge carries nothing, so it names no output and no input`);
  if (start === undefined || end === undefined) return undefined;
  if (kind === 'data') {
    checkKey(drafts[start]?.entry?.signature?.outputs, from.output, () =>
      complain(`${name}: node "${from.node}" has no output "${from.output}"`),
    );
    checkKey(drafts[end]?.entry?.signature?.inputs, to.input, () =>
      complain(`${name}: node "${to.node}" has no input "${to.input}"`),
    );
  }
  return { from: start, to: end };
}

/** A schema that names its keys and allows no others settles whether one is there. */
function checkKey(schema: unknown, key: string | undefined, complain: () => void): void {
  if (key === undefined || typeof schema !== 'object' || schema === null) return;
  if (!('additionalProperties' in schema) || schema.additionalProperties !== false) return;
  if ('patternProperties' in schema) return;
  const properties = 'properties' in schema ? schema.properties : {};
  if (typeof properties === 'object' && properties !== null && !Object.hasOwn(properties, key)) complain();
}
