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

/** A request as JSON, newline included; a large one as bytes. */
export type RequestLine = string | Buffer;

export interface Prepared {
  asked: Asked;
  line: RequestLine;
}

type Preparation = { status: 'ok'; prepared: Prepared } | { status: 'refused'; envelope: AnswerEnvelope };

/** Carries a request to the node and its answer back; never rejects. */
export type Ask = (prepared: Prepared) => Promise<AnswerEnvelope>;

/** The part of a node's settings that a request needs. */
interface CallTarget {
  label: string;
  deps: { createId: () => string; schemas: SchemaChecker };
}

/** Sends an invoke by way of `ask`, between the checks that the manifest demands. Never rejects. */
export function invokeThrough(
  target: CallTarget,
  inputs: unknown,
  options: InvokeCallOptions,
  ask: Ask,
): Promise<ResultEnvelope> {
  const asked: Asked = { type: 'invoke', invocationId: options.invocationId || target.deps.createId() };
  const preparation = prepareInvoke(target.label, asked, inputs, options);
  if (preparation.status === 'refused') return Promise.resolve(asResult(preparation.envelope));
  const { manifest } = options;
  // An invoke is answered by a result: every maker of envelopes goes by the type that was asked.
  if (manifest === undefined) return ask(preparation.prepared) as Promise<ResultEnvelope>;
  return checkedInvoke({
    target,
    inputs,
    schemas: schemasOf(manifest, options.node),
    prepared: preparation.prepared,
    ask,
  });
}

interface CheckedInvoke {
  target: CallTarget;
  inputs: unknown;
  schemas: { inputs: unknown; outputs: unknown; defaults: unknown };
  prepared: Prepared;
  ask: Ask;
}

async function checkedInvoke({
  target,
  inputs,
  schemas,
  prepared,
  ask,
}: CheckedInvoke): Promise<ResultEnvelope> {
  const { label, deps } = target;
  const before = await deps.schemas.check(schemas.inputs, withDefaults(inputs, schemas.defaults));
  if (before.status === 'invalid')
    return asResult(failureEnvelope(prepared.asked, schemaFailure(label, 'Inputs', before.errors)));
  const envelope = asResult(await ask(prepared));
  if (envelope.status === 'error') return envelope;
  const after = await deps.schemas.check(schemas.outputs, envelope.outputs);
  if (after.status === 'ok') return envelope;
  return asResult(failureEnvelope(prepared.asked, schemaFailure(label, 'Outputs', after.errors)));
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

const LARGE_INPUTS_CHARACTERS = 64 * 1024;
const PLAIN_CONTEXT = '{"config":{},"attempt":1}';

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
    const { node, context } = options;
    // Put together by hand: most calls have nothing but inputs to be written.
    const nodeField = node === undefined ? '' : `"node":${JSON.stringify(node)},`;
    const contextText =
      context === undefined ? PLAIN_CONTEXT : JSON.stringify({ config: {}, attempt: 1, ...context });
    const head = `{"octonode":"${OCTONODE_VERSION}","type":"invoke","invocationId":${JSON.stringify(asked.invocationId)},`;
    const line = joinLine(
      `${head}${nodeField}"inputs":`,
      JSON.stringify(inputs) ?? 'null',
      `,"context":${contextText}}\n`,
    );
    return { status: 'ok', prepared: { asked, line } };
  } catch (error) {
    // A cycle, a BigInt, a toJSON that throws, nesting without end: the caller's value, told in the caller's terms.
    const reason = error instanceof Error ? error.message : String(error);
    return {
      status: 'refused',
      envelope: failureEnvelope(asked, notJsonFailure(label, reason.split('\n')[0] ?? reason)),
    };
  }
}

/** Joined as text, a large request would be copied once more before it is encoded; ASCII is encoded at no cost. */
function joinLine(before: string, inputs: string, after: string): RequestLine {
  if (inputs.length < LARGE_INPUTS_CHARACTERS) return before + inputs + after;
  const inputsBytes = Buffer.byteLength(inputs);
  const beforeBytes = Buffer.byteLength(before);
  const line = Buffer.allocUnsafeSlow(beforeBytes + inputsBytes + Buffer.byteLength(after));
  line.write(before, 0);
  line.write(inputs, beforeBytes, inputsBytes === inputs.length ? 'latin1' : 'utf8');
  line.write(after, beforeBytes + inputsBytes);
  return line;
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
