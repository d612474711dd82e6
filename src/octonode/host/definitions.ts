// What a node file exports, as a list of nodes ready to run: each with its manifest, and methods for what has several.

import { type NodeManifest, parseManifest } from '../envelopes.ts';
import type {
  ClassNode,
  ConstNode,
  FunctionNode,
  RunContext,
  ServiceMethod,
  ServiceNode,
} from '../sdk/sdk.ts';

/** One thing that can be invoked. */
export interface Runnable {
  /** `node` or `service.method`, for messages. */
  name: string;
  inputs: unknown;
  outputs: unknown;
  defaults: unknown;
  /** Undefined: nothing to create. */
  service: ServiceDefinition | undefined;
  run(instance: unknown, inputs: unknown, context: RunContext): unknown;
}

export interface ServiceDefinition {
  id: string;
  lifecycle: NonNullable<NodeManifest['service']>['lifecycle'];
  create(context: RunContext): unknown;
  dispose(instance: unknown): unknown;
}

export interface Definition {
  id: string;
  manifest: NodeManifest;
  /** By method name; a node without methods has one under the empty name. */
  runnables: ReadonlyMap<string, Runnable>;
}

type AnyNode = FunctionNode | ServiceNode | ClassNode | ConstNode;

const PRESENTATION = [
  'label',
  'description',
  'symbol',
  'defaults',
  'workflowId',
  'inputs',
  'outputs',
  'setup',
  'icon',
  'config',
] as const;
const WHOLE = '';

/** The nodes among the exports, the default export first. Throws an Error for a person when something is no usable node. */
export function readDefinitions(exported: Record<string, unknown>, language: string): Definition[] {
  const definitions = new Map<string, Definition>();
  for (const node of new Set(nodesIn(exported))) {
    const definition = define(node, language);
    if (definitions.has(definition.id)) throw new Error(`Two nodes have the id "${definition.id}"`);
    definitions.set(definition.id, definition);
  }
  if (definitions.size === 0)
    throw new Error('The file exports no node: export default defineNode({ id, run })');
  return [...definitions.values()];
}

function nodesIn(exported: Record<string, unknown>): AnyNode[] {
  const { default: main, ...named } = exported;
  const candidates = Array.isArray(main)
    ? main
    : isNode(main)
      ? [main]
      : Object.values(isRecord(main) ? main : {});
  return [...candidates, ...Object.values(named)].filter(isNode);
}

function isNode(value: unknown): value is AnyNode {
  if (!isRecord(value) || typeof value.id !== 'string') return false;
  return typeof value.run === 'function' || typeof value.kind === 'string' || isRecord(value.methods);
}

function define(node: AnyNode, language: string): Definition {
  if ('value' in node) return defineValue(node, language);
  if ('class' in node) return defineMethods(serviceFromClass(node), 'class', language);
  if ('methods' in node) return defineMethods(node, 'service', language);
  if (typeof node.run !== 'function') throw new Error(`Node "${node.id}" has no function "run"`);
  const runnable: Runnable = {
    name: node.id,
    inputs: node.inputs,
    outputs: node.outputs,
    defaults: node.defaults,
    service: undefined,
    run: (_instance, inputs, context) => node.run(inputs, context),
  };
  return {
    id: node.id,
    manifest: manifestOf(node, { kind: 'function', language }),
    runnables: new Map([[WHOLE, runnable]]),
  };
}

function defineValue(node: ConstNode, language: string): Definition {
  const base = {
    name: node.id,
    inputs: undefined,
    outputs: undefined,
    defaults: undefined,
    service: undefined,
  };
  const runnable: Runnable = { ...base, run: () => node.value };
  return {
    id: node.id,
    manifest: manifestOf(node, { kind: 'const', language }),
    runnables: new Map([[WHOLE, runnable]]),
  };
}

function defineMethods(node: ServiceNode, kind: 'service' | 'class', language: string): Definition {
  const lifecycle = node.lifecycle ?? 'invocation';
  if (typeof node.create !== 'function') throw new Error(`Service "${node.id}" has no function "create"`);
  const service: ServiceDefinition = {
    id: node.id,
    lifecycle,
    create: (context) => node.create(context),
    dispose: (instance) => node.dispose?.(instance),
  };
  const methods = Object.entries(node.methods).map(([name, method]) => ({
    name,
    ...methodOf(node.id, name, method),
  }));
  const runnables = methods.map(({ name, inputs, outputs, run }): [string, Runnable] => [
    name,
    { name: `${node.id}.${name}`, inputs, outputs, defaults: undefined, service, run },
  ]);
  const described = methods.map(({ run, ...method }) => ({
    ...method,
    params: method.params ?? paramsOf(method.inputs),
  }));
  return {
    id: node.id,
    manifest: manifestOf(node, { kind, language, service: { lifecycle, methods: described } }),
    runnables: new Map(runnables),
  };
}

function methodOf(id: string, name: string, method: ServiceMethod | ServiceMethod['run']): ServiceMethod {
  const described = typeof method === 'function' ? { run: method } : method;
  if (typeof described.run !== 'function') throw new Error(`Method "${id}.${name}" has no function "run"`);
  return described;
}

function serviceFromClass(node: ClassNode): ServiceNode {
  const { class: Class, methods, ...rest } = node;
  if (typeof Class !== 'function') throw new Error(`Class node "${node.id}" has no class`);
  const described =
    Array.isArray(methods) || methods === undefined
      ? {}
      : (methods as Record<string, Omit<ServiceMethod, 'run'>>);
  const names = Array.isArray(methods)
    ? (methods as string[])
    : methods === undefined
      ? methodNames(Class.prototype)
      : Object.keys(methods);
  const withRun = names.map((name): [string, ServiceMethod] => {
    if (typeof Reflect.get(Class.prototype, name) !== 'function')
      throw new Error(`Class node "${node.id}" has no method "${name}"`);
    const run: ServiceMethod['run'] = (instance, inputs, context) =>
      Reflect.apply(Reflect.get(instance as object, name), instance, [inputs, context]);
    return [name, { ...described[name], run }];
  });
  return {
    ...rest,
    kind: 'service',
    lifecycle: node.lifecycle ?? 'worker',
    create: (context) => new Class(context),
    dispose: (instance) => disposeInstance(instance as Record<PropertyKey, unknown>),
    methods: Object.fromEntries(withRun),
  };
}

function methodNames(prototype: object): string[] {
  const names = Object.getOwnPropertyNames(prototype).filter(
    (name) => name !== 'constructor' && name !== 'dispose',
  );
  return names.filter(
    (name) => typeof Object.getOwnPropertyDescriptor(prototype, name)?.value === 'function',
  );
}

function disposeInstance(instance: Record<PropertyKey, unknown>): unknown {
  const dispose = instance.dispose ?? instance[Symbol.asyncDispose] ?? instance[Symbol.dispose];
  return typeof dispose === 'function' ? Reflect.apply(dispose, instance, []) : undefined;
}

function paramsOf(inputs: unknown): string[] {
  return isRecord(inputs) && isRecord(inputs.properties) ? Object.keys(inputs.properties) : [];
}

function manifestOf(node: AnyNode, facts: Record<string, unknown>): NodeManifest {
  const fields = PRESENTATION.map((name): [string, unknown] => [name, Reflect.get(node, name)]);
  const given = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  const parsed = parseManifest({ id: node.id, ...facts, ...given });
  if (parsed.status === 'invalid')
    throw new Error(`Node "${node.id}" is not described well, ${parsed.reason}`);
  return parsed.value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
