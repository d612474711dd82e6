// `burrow/node`: what a node file imports. Definitions are plain data with functions in it, so that a file may also
// export objects of the same shape without importing anything.

export { SDK_TYPES } from './types-text.ts';

import type { NodeContext, NodeManifest } from '../envelopes.ts';

/** What the host tells a run about itself. */
export type RunContext = NodeContext & {
  config: unknown;
  attempt: number;
  invocationId: string;
  node: string;
};

type Presentation = Partial<
  Pick<NodeManifest, 'label' | 'description' | 'symbol' | 'icon' | 'config' | 'setup' | 'workflowId'>
>;
type Lifecycle = NonNullable<NodeManifest['service']>['lifecycle'];
type JsonSchema = NodeManifest['inputs'];

export interface FunctionNode extends Presentation {
  id: string;
  kind?: 'function';
  inputs?: JsonSchema;
  outputs?: JsonSchema;
  /** Laid under inputs that are an object. */
  defaults?: Record<string, unknown>;
  run(inputs: unknown, context: RunContext): unknown;
}

export interface ServiceMethod {
  params?: unknown[];
  inputs?: JsonSchema;
  outputs?: JsonSchema;
  run(instance: unknown, inputs: unknown, context: RunContext): unknown;
}

export interface ServiceNode extends Presentation {
  id: string;
  kind?: 'service';
  /** How long an instance lives; default `invocation`. */
  lifecycle?: Lifecycle;
  create(context: RunContext): unknown;
  dispose?(instance: unknown): unknown;
  methods: Record<string, ServiceMethod | ServiceMethod['run']>;
}

export interface ClassNode extends Presentation {
  id: string;
  kind?: 'class';
  /** Default `worker`: one instance for the life of the process. */
  lifecycle?: Lifecycle;
  class: new (context: RunContext) => object;
  /** Default: every method of the class but `dispose`, without schemas. */
  methods?: readonly string[] | Record<string, Omit<ServiceMethod, 'run'>>;
}

export interface ConstNode extends Presentation {
  id: string;
  kind?: 'const';
  value: unknown;
}

/** A failure that the node means: NON_RETRYABLE, or RUNTIME_ERROR that may be retried with `{ retryable: true }`. */
export class NodeError extends Error {
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(message: string, options: { retryable?: boolean; details?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NodeError';
    this.retryable = options.retryable === true;
    this.details = options.details;
  }
}

/** By shape: a node may carry a copy of this module. */
export function isNodeError(value: unknown): value is NodeError {
  return value instanceof Error && value.name === 'NodeError' && 'retryable' in value;
}

export function defineNode(node: FunctionNode): FunctionNode {
  return { ...node, kind: 'function' };
}

export function defineService(node: ServiceNode): ServiceNode {
  return { ...node, kind: 'service' };
}

export function defineClass(node: ClassNode): ClassNode {
  return { ...node, kind: 'class' };
}

export function defineConst(node: ConstNode): ConstNode {
  return { ...node, kind: 'const' };
}
