// One request in, one answer out, for the nodes of a file: finds the node, checks inputs, runs it, checks outputs, and
// turns whatever it throws into an error envelope. It never rejects.

import { type AnswerEnvelope, type NodeRequest, parseRequest } from '../envelopes.ts';
import { type Asked, type Failure, failureEnvelope, schemaFailure } from '../failures.ts';
import { OCTONODE_VERSION } from '../limits.ts';
import { withDefaults } from '../request.ts';
import type { SchemaChecker, SchemaVerdict } from '../schema-check.ts';
import type { RunContext } from '../sdk/sdk.ts';
import type { Definition, Runnable } from './definitions.ts';
import type { Instances } from './instances.ts';
import { findLoss } from './lossless.ts';
import { type ThrownFailure, thrownFailure } from './thrown.ts';

/** The nodes of the file, or why every request fails. */
export type Loaded =
  | { status: 'ok'; definitions: readonly Definition[] }
  | { status: 'failed'; failure: ThrownFailure };

export interface AnswerDeps {
  loaded: Loaded;
  instances: Instances;
  schemas: SchemaChecker;
}

type InvokeRequest = Extract<NodeRequest, { type: 'invoke' }>;

const UNKNOWN_ID = 'unknown';

/** A call that runs, and its answer line to come. */
export interface PendingAnswer {
  asked: Asked;
  reply: Promise<string>;
}

/** The answer as one line of JSON, newline included; at once when nothing has to be waited for. */
export function answerRequest(line: string, deps: AnswerDeps): string | PendingAnswer {
  const answered = answer(line, deps);
  if (!isRunning(answered)) return encode(answered);
  return { asked: answered.asked, reply: answered.envelope.then(encode) };
}

/** The answer line of a call that is given up. */
export function answerFailure(asked: Asked, failure: ThrownFailure): string {
  return encode(failureEnvelope(asked, failure));
}

/** The answer to a line that is no request at all. */
export function answerBadLine(reason: string): string {
  const asked: Asked = { type: 'invoke', invocationId: UNKNOWN_ID };
  return `${JSON.stringify(failureEnvelope(asked, invalid(`Request is not valid, ${reason}`, '')))}\n`;
}

function encode(envelope: AnswerEnvelope): string {
  try {
    return `${JSON.stringify(envelope)}\n`;
  } catch (error) {
    // An output that passed the lossless check can still be too long for one string; details may hold anything.
    const asked: Asked = {
      type: envelope.type === 'result' ? 'invoke' : 'describe',
      invocationId: envelope.invocationId,
    };
    return `${JSON.stringify(failureEnvelope(asked, notJson(error)))}\n`;
  }
}

interface Running {
  asked: Asked;
  envelope: Promise<AnswerEnvelope>;
}

function isRunning(answered: AnswerEnvelope | Running): answered is Running {
  return answered.envelope instanceof Promise;
}

function answer(line: string, deps: AnswerDeps): AnswerEnvelope | Running {
  const read = readRequest(line);
  if (read.status === 'invalid') return read.envelope;
  const { request } = read;
  const { loaded } = deps;
  if (loaded.status === 'failed') return failureEnvelope(request, loaded.failure);
  const { definitions } = loaded;
  if (request.type === 'describe') return describe(request, definitions);
  const found = findRunnable(definitions, request.node);
  if (typeof found === 'string') return failureEnvelope(request, unknownNode(found, definitions));
  const fail = (error: unknown): AnswerEnvelope => failureEnvelope(request, thrownFailure(error));
  try {
    const outcome = invoke(request, found, deps);
    if (!(outcome instanceof Promise)) return conclude(request, outcome);
    // The inputs need not live as long as the call.
    const asked: Asked = { type: 'invoke', invocationId: request.invocationId };
    return { asked, envelope: outcome.then((late) => conclude(request, late), fail) };
  } catch (error) {
    return fail(error);
  }
}

type Outcome = { outputs: unknown } | { failure: Failure };

function conclude(request: InvokeRequest, outcome: Outcome): AnswerEnvelope {
  if ('failure' in outcome) return failureEnvelope(request, outcome.failure);
  const { invocationId } = request;
  return { octonode: OCTONODE_VERSION, type: 'result', invocationId, status: 'ok', outputs: outcome.outputs };
}

/** Checks, runs, checks. Throws or rejects with what the node threw. Only what is slow by nature is waited for. */
function invoke(request: InvokeRequest, runnable: Runnable, deps: AnswerDeps): Outcome | Promise<Outcome> {
  const inputs = withDefaults(request.inputs, runnable.defaults);
  const verdict = deps.schemas.checkNow(runnable.inputs, inputs);
  if (verdict === undefined || runnable.service !== undefined) return invokeSlowly(request, runnable, deps);
  if (verdict.status === 'invalid')
    return { failure: schemaFailure(runnable.name, 'Inputs', verdict.errors) };
  const outputs = runnable.run(undefined, inputs, contextOf(request, runnable));
  return isThenable(outputs)
    ? Promise.resolve(outputs).then((late) => judge(late, runnable, deps))
    : judge(outputs, runnable, deps);
}

async function invokeSlowly(request: InvokeRequest, runnable: Runnable, deps: AnswerDeps): Promise<Outcome> {
  const inputs = withDefaults(request.inputs, runnable.defaults);
  const verdict = await deps.schemas.check(runnable.inputs, inputs);
  if (verdict.status === 'invalid')
    return { failure: schemaFailure(runnable.name, 'Inputs', verdict.errors) };
  const context = contextOf(request, runnable);
  if (runnable.service === undefined)
    return judge(await runnable.run(undefined, inputs, context), runnable, deps);
  const { instance, release } = await deps.instances.acquire(runnable.service, context);
  try {
    return await judge(await runnable.run(instance, inputs, context), runnable, deps);
  } finally {
    await release();
  }
}

function judge(outputs: unknown, runnable: Runnable, { schemas }: AnswerDeps): Outcome | Promise<Outcome> {
  const loss = findLoss(outputs);
  if (loss !== undefined) {
    const where = loss.path === '' ? '' : ` at ${loss.path}`;
    return {
      failure: invalid(
        `Outputs of node "${runnable.name}" are not plain JSON${where}: ${loss.message}`,
        loss.path,
      ),
    };
  }
  const outcomeOf = (verdict: SchemaVerdict): Outcome =>
    verdict.status === 'ok'
      ? { outputs }
      : { failure: schemaFailure(runnable.name, 'Outputs', verdict.errors) };
  const verdict = schemas.checkNow(runnable.outputs, outputs);
  return verdict === undefined
    ? schemas.check(runnable.outputs, outputs).then(outcomeOf)
    : outcomeOf(verdict);
}

function contextOf(request: InvokeRequest, runnable: Runnable): RunContext {
  const { config = {}, attempt = 1 } = request.context;
  return { ...request.context, config, attempt, invocationId: request.invocationId, node: runnable.name };
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function describe(request: NodeRequest, definitions: readonly Definition[]): AnswerEnvelope {
  const { invocationId, node } = request;
  const definition = node === undefined ? definitions[0] : definitions.find(({ id }) => id === node);
  if (definition === undefined)
    return failureEnvelope(request, unknownNode(`Node "${node}" is not in this file`, definitions));
  // A file with several nodes names them all, so that whoever asked can ask for each.
  const others = definitions.length > 1 ? { nodes: definitions.map(({ id }) => id) } : {};
  return {
    octonode: OCTONODE_VERSION,
    type: 'manifest',
    invocationId,
    status: 'ok',
    manifest: { ...definition.manifest, ...others },
  };
}

/** The runnable, or a sentence about why there is none. */
function findRunnable(definitions: readonly Definition[], node: string | undefined): Runnable | string {
  const [first] = definitions;
  if (node === undefined) {
    return definitions.length === 1 && first !== undefined
      ? onlyRunnable(first)
      : 'The file holds several nodes and none was named';
  }
  const whole = definitions.find(({ id }) => id === node);
  if (whole !== undefined) return onlyRunnable(whole);
  const dot = node.lastIndexOf('.');
  const service = definitions.find(({ id }) => id === node.slice(0, dot));
  if (dot < 1 || service === undefined) return `Node "${node}" is not in this file`;
  return (
    service.runnables.get(node.slice(dot + 1)) ??
    `Service "${service.id}" has no method "${node.slice(dot + 1)}"`
  );
}

function onlyRunnable({ id, runnables }: Definition): Runnable | string {
  const [first] = runnables.values();
  if (runnables.size === 1 && first !== undefined) return first;
  return `Service "${id}" has several methods: name one as "${id}.METHOD"`;
}

function readRequest(
  line: string,
): { status: 'ok'; request: NodeRequest } | { status: 'invalid'; envelope: AnswerEnvelope } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return {
      status: 'invalid',
      envelope: failureEnvelope(
        { type: 'invoke', invocationId: UNKNOWN_ID },
        invalid('Request is not JSON', ''),
      ),
    };
  }
  // What the engine writes needs no more than this look; whatever else goes through the schema.
  if (isPlainInvoke(value)) return { status: 'ok', request: value };
  const parsed = parseRequest(value);
  if (parsed.status === 'ok') return { status: 'ok', request: parsed.value };
  const failure = invalid(`Request is not valid, ${parsed.reason}`, '');
  return { status: 'invalid', envelope: failureEnvelope(askedBy(value), failure) };
}

function isPlainInvoke(value: unknown): value is InvokeRequest {
  if (typeof value !== 'object' || value === null) return false;
  const { octonode, type, invocationId, node, inputs, context } = value as Record<string, unknown>;
  if (
    octonode !== OCTONODE_VERSION ||
    type !== 'invoke' ||
    typeof invocationId !== 'string' ||
    invocationId === ''
  )
    return false;
  if (inputs === undefined || (node !== undefined && typeof node !== 'string')) return false;
  if (typeof context !== 'object' || context === null) return false;
  const { runId, env, attempt, deadlineMs } = context as Record<string, unknown>;
  return runId === undefined && env === undefined && deadlineMs === undefined && typeof attempt === 'number';
}

/** A bad request that still says who it is gets its answer under its own name. */
function askedBy(value: unknown): Asked {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const { invocationId, type } = fields;
  return {
    type: type === 'describe' ? 'describe' : 'invoke',
    invocationId: typeof invocationId === 'string' && invocationId !== '' ? invocationId : UNKNOWN_ID,
  };
}

function unknownNode(message: string, definitions: readonly Definition[]): Failure {
  const nodes = definitions.flatMap(({ id, runnables }) =>
    [...runnables.keys()].map((method) => (method === '' ? id : `${id}.${method}`)),
  );
  return { code: 'VALIDATION_ERROR', message, retryable: false, details: { nodes } };
}

function invalid(message: string, path: string): Failure {
  return { code: 'VALIDATION_ERROR', message, retryable: false, details: { errors: [{ path, message }] } };
}

function notJson(error: unknown): Failure {
  return invalid(
    `Answer cannot be written as JSON: ${error instanceof Error ? error.message : String(error)}`,
    '',
  );
}
