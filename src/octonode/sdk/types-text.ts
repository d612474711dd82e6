// The type declarations of `burrow/node`, as `burrow node types` prints them. A test compiles a node against them.

export const SDK_TYPES = `// Types of the module "burrow/node", which is part of the burrow binary.
// Keep this file beside your nodes (burrow node types > burrow-node.d.ts); editors pick it up.

declare module 'burrow/node' {
  export type JsonSchema = boolean | { [keyword: string]: unknown };
  export type Lifecycle = 'invocation' | 'workflow-run' | 'worker';

  export interface NodeContext {
    /** Which node runs, such as "greet" or "counter.add". */
    node: string;
    invocationId: string;
    config: unknown;
    /** 1 for the first attempt. */
    attempt: number;
    runId?: string;
    /** Name of the environment, such as "prod". */
    env?: string;
    /** Milliseconds since the epoch. */
    deadlineMs?: number;
  }

  export interface Presentation {
    label?: string;
    description?: string;
    /** At most 16 characters. */
    symbol?: string;
    icon?: string;
    config?: unknown;
    setup?: unknown;
    workflowId?: string;
  }

  export interface FunctionNode<I = any, O = unknown> extends Presentation {
    id: string;
    kind?: 'function';
    /** JSON Schema (draft-07 or 2020-12), checked before run. */
    inputs?: JsonSchema;
    /** JSON Schema, checked after run. */
    outputs?: JsonSchema;
    /** Laid under inputs that are an object. */
    defaults?: Partial<I> & object;
    /** The outputs must survive JSON unchanged: no undefined, NaN, Date, cycle. */
    run(inputs: I, context: NodeContext): O | Promise<O>;
  }

  export type ServiceRun<S> = (instance: S, inputs: any, context: NodeContext) => unknown;

  export interface ServiceMethod<S> {
    params?: unknown[];
    inputs?: JsonSchema;
    outputs?: JsonSchema;
    run: ServiceRun<S>;
  }

  export interface ServiceNode<S = any> extends Presentation {
    id: string;
    kind?: 'service';
    /** Default "invocation": an instance for each call. */
    lifecycle?: Lifecycle;
    create(context: NodeContext): S | Promise<S>;
    dispose?(instance: S): unknown;
    /** Addressed as "service.method". */
    methods: Record<string, ServiceMethod<S> | ServiceRun<S>>;
  }

  export interface ClassNode extends Presentation {
    id: string;
    kind?: 'class';
    /** Default "worker": one instance for the life of the process. */
    lifecycle?: Lifecycle;
    class: new (context: NodeContext) => object;
    /** Default: every method of the class but dispose. */
    methods?: readonly string[] | Record<string, { params?: unknown[]; inputs?: JsonSchema; outputs?: JsonSchema }>;
  }

  export interface ConstNode extends Presentation {
    id: string;
    kind?: 'const';
    value: unknown;
  }

  export function defineNode<I = any, O = unknown>(node: FunctionNode<I, O>): FunctionNode<I, O>;
  export function defineService<S>(node: ServiceNode<S>): ServiceNode<S>;
  export function defineClass(node: ClassNode): ClassNode;
  export function defineConst(node: ConstNode): ConstNode;

  /** A failure that is meant: NON_RETRYABLE, or RUNTIME_ERROR that may be retried with { retryable: true }. */
  export class NodeError extends Error {
    readonly retryable: boolean;
    readonly details: unknown;
    constructor(message: string, options?: { retryable?: boolean; details?: unknown; cause?: unknown });
  }
}
`;
