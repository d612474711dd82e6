// What a step is called with: the flow's inputs for an entry, the bindings over them, and what the data edges bring over those.

import { type BindingScope, resolveBinding } from './bindings.ts';
import type { DataEdge } from './edges.ts';
import type { FlowPlan, PlanStep } from './plan.ts';

export type StepInputs = { status: 'ok'; inputs: unknown } | { status: 'missing'; message: string };

/** `outputsOf` answers the outputs of a step that ended well. */
export function gatherInputs(
  step: PlanStep,
  scope: BindingScope,
  { outputsOf, nameOf }: { outputsOf(index: number): unknown; nameOf(index: number): string },
): StepInputs {
  let whole: unknown = step.isEntry ? scope.inputs : undefined;
  const keys = new Map<string, unknown>();
  if (isObject(whole)) for (const [key, value] of Object.entries(whole)) keys.set(key, value);
  let hasKeys = isObject(whole);
  for (const { input, value } of step.bindings) {
    const bound = resolveBinding(value, scope);
    if (bound.status === 'missing')
      return { status: 'missing', message: `Nothing is there for ${bound.reference}` };
    keys.set(input, bound.value);
    hasKeys = true;
  }
  for (const edge of step.dataIn) {
    const carried = carry(edge, outputsOf(edge.from));
    if (carried.status === 'missing')
      return { status: 'missing', message: `Node "${nameOf(edge.from)}" gave no output "${edge.output}"` };
    if (edge.input !== undefined) keys.set(edge.input, carried.value);
    else if (isObject(carried.value))
      for (const [key, value] of Object.entries(carried.value)) keys.set(key, value);
    else if (step.dataIn.length === 1 && !hasKeys) whole = carried.value;
    else {
      const message = `Output of node "${nameOf(edge.from)}" is no object and cannot be merged with other inputs`;
      return { status: 'missing', message };
    }
    hasKeys ||= edge.input !== undefined || isObject(carried.value);
  }
  // A value that is no object is handed on as it is when nothing is to be laid beside it.
  if (!hasKeys && whole !== undefined) return { status: 'ok', inputs: whole };
  return { status: 'ok', inputs: Object.fromEntries(keys) };
}

/** References of all bindings that name nothing, each as a sentence. */
export function unboundReferences({ steps }: FlowPlan, scope: BindingScope): string[] {
  return steps.flatMap(({ id, bindings }) =>
    bindings.flatMap(({ input, value }) => {
      const bound = resolveBinding(value, scope);
      return bound.status === 'ok'
        ? []
        : [`Binding "${id}.${input}": nothing is there for ${bound.reference}`];
    }),
  );
}

function carry(
  { output }: DataEdge,
  outputs: unknown,
): { status: 'ok'; value: unknown } | { status: 'missing' } {
  if (output === undefined) return { status: 'ok', value: outputs };
  if (!isObject(outputs) || !Object.hasOwn(outputs, output)) return { status: 'missing' };
  return { status: 'ok', value: outputs[output] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
