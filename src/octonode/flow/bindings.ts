// What a workflow lays into the inputs of its steps by itself: fixed values, and references to the flow's inputs
// (`$inputs`, `$inputs.user.name`) and to variables of the environment (`$vars.REGION`). `$$` begins a text with a dollar.

import type { Workflow } from '../project/project.ts';
import type { Findings, Steps } from './draft.ts';

export interface StepBinding {
  input: string;
  value: unknown;
}

export interface BindingScope {
  inputs: unknown;
  vars: Readonly<Record<string, unknown>>;
}

export type BoundValue = { status: 'ok'; value: unknown } | { status: 'missing'; reference: string };

const REFERENCE = /^\$(inputs|vars)((?:\.[^.\s]+)*)$/;

/** By index of the step. */
export function readBindings(
  { bindings }: Workflow,
  { drafts, positions }: Steps,
  findings: Findings,
): StepBinding[][] {
  const result: StepBinding[][] = drafts.map(() => []);
  for (const [id, inputs] of Object.entries(bindings ?? {})) {
    const position = positions.get(id);
    if (position === undefined)
      findings.add(['bindings', id], `Binding for "${id}": it is no node of the workflow`);
    for (const [input, value] of Object.entries(inputs)) {
      const reason = whyBad(value);
      if (reason !== undefined) findings.add(['bindings', id, input], `Binding "${id}.${input}": ${reason}`);
      if (position !== undefined) result[position]?.push({ input, value });
    }
  }
  return result;
}

export function resolveBinding(value: unknown, scope: BindingScope): BoundValue {
  if (typeof value !== 'string' || !value.startsWith('$')) return { status: 'ok', value };
  if (value.startsWith('$$')) return { status: 'ok', value: value.slice(1) };
  const match = REFERENCE.exec(value);
  let current: unknown = match?.[1] === 'vars' ? scope.vars : scope.inputs;
  for (const key of match?.[2]?.split('.').slice(1) ?? []) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key))
      return { status: 'missing', reference: value };
    // Any value of JSON can be looked into by its keys.
    current = (current as Record<string, unknown>)[key];
  }
  return { status: 'ok', value: current };
}

function whyBad(value: unknown): string | undefined {
  if (typeof value !== 'string' || !value.startsWith('$') || value.startsWith('$$')) return undefined;
  const match = REFERENCE.exec(value);
  if (match === null)
    return `"${value}" is neither $inputs… nor $vars.NAME; a text that begins with $ is written $$`;
  return match[1] === 'vars' && match[2] === '' ? `"${value}" names no variable: $vars.NAME` : undefined;
}
