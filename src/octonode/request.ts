// What a caller asks, made ready to be sent: one line of JSON with an id, checked against the manifest when it is known.

import type {
  AnswerEnvelope,
  ManifestEnvelope,
  NodeContext,
  NodeManifest,
  ResultEnvelope,
} from './envelopes.ts';
import { type Asked, failureEnvelope, notJsonFailure, schemaFailure } from './failures.ts';
import { OCTONODE_VERSION } from './limits.ts';
import type { SchemaChecker } from './schema-check.ts';

export interface CallOptions {
  /** Which node, when the program holds several; `service.method` for a method. */
  node?: string;
  /** Default: a random UUID. A worker refuses an id that is in flight. */
  invocationId?: string;
  /** Default 30 s, counted from the call. */
  timeoutMs?: number;
  /** Ends the call: in one-shot mode with the process, in a worker by giving up on the answer. */
  signal?: AbortSignal;
}

export interface InvokeCallOptions extends CallOptions {
  /** `config` and `attempt` are filled in; `deadlineMs` (ms since the epoch) also bounds the call. */
  context?: NodeContext;
  /** When known, inputs are checked before the call and outputs after it. */
  manifest?: NodeManifest;
}

export interface Prepared {
  asked: Asked;
  line: string;
}

export type Preparation =
  | { status: 'ok'; prepared: Prepared }
  | { status: 'refused'; envelope: AnswerEnvelope };

/** Carries a request to the node and its answer back; never rejects. */
export type Ask = (prepared: Prepared) => Promise<AnswerEnvelope>;

/** The part of a node's settings that a request needs. */
export interface CallTarget {
  label: string;
  deps: { createId: () => string; schemas: SchemaChecker };
}

/** Sends an invoke by way of `ask`, between the checks that the manifest demands. Never rejects. */
export async function invokeThrough(
  target: CallTarget,
  inputs: unknown,
  options: InvokeCallOptions,
  ask: Ask,
): Promise<ResultEnvelope> {
  const asked: Asked = { type: 'invoke', invocationId: options.invocationId || target.deps.createId() };
  const schemas = options.manifest === undefined ? undefined : schemasOf(options.manifest, options.node);
  if (schemas !== undefined) {
    const verdict = await target.deps.schemas.check(schemas.inputs, withDefaults(inputs, schemas.defaults));
    if (verdict.status === 'invalid')
      return asResult(failureEnvelope(asked, schemaFailure(target.label, 'Inputs', verdict.errors)));
  }
  const preparation = prepareInvoke(target.label, asked, inputs, options);
  if (preparation.status === 'refused') return asResult(preparation.envelope);
  const envelope = asResult(await ask(preparation.prepared));
  if (schemas === undefined || envelope.status === 'error') return envelope;
  const verdict = await target.deps.schemas.check(schemas.outputs, envelope.outputs);
  if (verdict.status === 'ok') return envelope;
  return asResult(failureEnvelope(asked, schemaFailure(target.label, 'Outputs', verdict.errors)));
}

/** Sends a describe by way of `ask`. Never rejects. */
export async function describeThrough(
  target: CallTarget,
  options: CallOptions,
  ask: Ask,
): Promise<ManifestEnvelope> {
  const asked: Asked = { type: 'describe', invocationId: options.invocationId || target.deps.createId() };
  const request = {
    octonode: OCTONODE_VERSION,
    type: 'describe',
    invocationId: asked.invocationId,
    node: options.node,
  };
  // A describe is answered by a manifest: every maker of envelopes goes by the type that was asked.
  return (await ask({ asked, line: `${JSON.stringify(request)}\n` })) as ManifestEnvelope;
}

/** The value that a node sees: its defaults under the inputs when both are objects. */
export function withDefaults(inputs: unknown, defaults: unknown): unknown {
  return isPlainObject(inputs) && isPlainObject(defaults) ? { ...defaults, ...inputs } : inputs;
}

function prepareInvoke(
  label: string,
  asked: Asked,
  inputs: unknown,
  options: InvokeCallOptions,
): Preparation {
  try {
    const context = { config: {}, attempt: 1, ...options.context };
    const { node } = options;
    const request = {
      octonode: OCTONODE_VERSION,
      type: 'invoke',
      invocationId: asked.invocationId,
      node,
      inputs: inputs ?? null,
      context,
    };
    return { status: 'ok', prepared: { asked, line: `${JSON.stringify(request)}\n` } };
  } catch (error) {
    // A cycle, a BigInt, a toJSON that throws, nesting without end: the caller's value, told in the caller's terms.
    const reason = error instanceof Error ? error.message : String(error);
    return {
      status: 'refused',
      envelope: failureEnvelope(asked, notJsonFailure(label, reason.split('\n')[0] ?? reason)),
    };
  }
}

function schemasOf(
  manifest: NodeManifest,
  node: string | undefined,
): { inputs: unknown; outputs: unknown; defaults: unknown } {
  const method = manifest.service?.methods.find(({ name }) => node === `${manifest.id}.${name}`);
  if (method !== undefined) return { inputs: method.inputs, outputs: method.outputs, defaults: undefined };
  return { inputs: manifest.inputs, outputs: manifest.outputs, defaults: manifest.defaults };
}

function asResult(envelope: AnswerEnvelope): ResultEnvelope {
  // An invoke is answered by a result: every maker of envelopes goes by the type that was asked.
  return envelope as ResultEnvelope;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
