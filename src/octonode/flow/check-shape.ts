// The shape of a workflow: no step waits for itself, and every step is reached from an entry.

import type { Workflow } from '../project/project.ts';
import type { Findings, Steps } from './draft.ts';
import type { Edges } from './edges.ts';
import { MAX_CYCLES } from './limits.ts';

interface Graph extends Steps {
  edges: Edges;
}

/** The indexes of the entries: those that are named, else every step that waits for none. */
export function checkShape(workflow: Workflow, graph: Graph, findings: Findings): ReadonlySet<number> {
  const { drafts, edges } = graph;
  for (const cycle of findCycles(edges)) {
    const names = cycle.map((index) => drafts[index]?.id ?? '');
    const at = (workflow.edges ?? []).findIndex(
      ({ from, to }) => from.node === names.at(-1) && to.node === names[0],
    );
    findings.add(at === -1 ? ['edges'] : ['edges', at], `Cycle: ${[...names, names[0]].join(' → ')}`);
  }
  if (workflow.entry === undefined)
    return new Set([...drafts.keys()].filter((index) => edges.predecessors[index]?.size === 0));
  return namedEntries(workflow, graph, findings);
}

function namedEntries(
  workflow: Workflow,
  { drafts, positions, edges }: Graph,
  findings: Findings,
): Set<number> {
  const names = [workflow.entry ?? []].flat();
  const entries = new Set<number>();
  for (const name of names) {
    const position = positions.get(name);
    if (position === undefined) findings.add(['entry'], `Entry "${name}" is no node of the workflow`);
    else entries.add(position);
  }
  const reached = new Set(entries);
  for (const index of reached) for (const next of edges.successors[index] ?? []) reached.add(next);
  for (const [index, { id }] of drafts.entries())
    if (!reached.has(index))
      findings.add(['nodes', index], `Node "${id}" is not reached from entry "${names.join('", "')}"`);
  return entries;
}

/** Each as the indexes along it, beginning where the file names it first; steps shared by two cycles are told once. */
function findCycles({ predecessors, successors }: Edges): number[][] {
  const left = new Set(predecessors.keys());
  const cycles: number[][] = [];
  while (cycles.length < MAX_CYCLES) {
    prune(left, predecessors, successors);
    const [start] = left;
    if (start === undefined) return cycles;
    const cycle = walkBack(start, left, predecessors);
    for (const index of cycle) left.delete(index);
    cycles.push(cycle);
  }
  return cycles;
}

/** Takes away what waits for nothing that is left, again and again: only cycles and what they block remain. */
function prune(
  left: Set<number>,
  predecessors: readonly Set<number>[],
  successors: readonly Set<number>[],
): void {
  const counts = new Map([...left].map((index) => [index, countIn(predecessors[index], left)]));
  const free = [...counts].filter(([, count]) => count === 0).map(([index]) => index);
  for (let index = free.pop(); index !== undefined; index = free.pop()) {
    left.delete(index);
    for (const next of successors[index] ?? []) {
      const count = (counts.get(next) ?? 0) - 1;
      counts.set(next, count);
      if (count === 0 && left.has(next)) free.push(next);
    }
  }
}

function countIn(indexes: ReadonlySet<number> | undefined, left: ReadonlySet<number>): number {
  let count = 0;
  for (const index of indexes ?? []) if (left.has(index)) count += 1;
  return count;
}

/** Everything left has a predecessor that is left, so going back must come round. */
function walkBack(start: number, left: ReadonlySet<number>, predecessors: readonly Set<number>[]): number[] {
  const trail: number[] = [];
  const at = new Map<number, number>();
  let index = start;
  while (!at.has(index)) {
    at.set(index, trail.length);
    trail.push(index);
    index = [...(predecessors[index] ?? [])].find((before) => left.has(before)) ?? index;
  }
  const cycle = trail.slice(at.get(index)).reverse();
  const first = cycle.indexOf(Math.min(...cycle));
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
