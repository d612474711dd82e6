// The envelopes that the engine writes itself when a node did not: octonode.md section 2, row by row.
// All wording about a node that misbehaved is composed here; the rest of the engine passes facts.

import type { AnswerEnvelope, NodeErrorCode, RequestType } from './envelopes.ts';
import { MAX_EXCERPT_CHARACTERS, OCTONODE_VERSION } from './limits.ts';
import type { SchemaError } from './schema-check.ts';

/** Whom a failure answers. */
export interface Asked {
  type: RequestType;
  invocationId: string;
}

/** The names in `details`, and in each of its `errors`, of failures that the engine and the host write. */
export const OWN_DETAIL_KEYS: ReadonlySet<string> = new Set([
  ...['exitCode', 'signal', 'stderrTail', 'errno', 'timeoutMs', 'maxAnswerBytes', 'excerpt', 'problem'],
  ...['errors', 'path', 'message', 'nodes', 'file', 'line', 'column'],
  ...['cancelled', 'uncaught', 'breaker', 'deaths', 'workerKilled'],
]);

/** A type, not an interface, for the envelope's schema lets it carry more fields. */
export type Failure = {
  code: NodeErrorCode;
  message: string;
  retryable: boolean;
  details?: Record<string, unknown>;
};

/** How a process ended and what it said last. */
export interface Ending {
  label: string;
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stderrTail: string;
}

export function failureEnvelope(asked: Asked, error: Failure): AnswerEnvelope {
  const { invocationId } = asked;
  const octonode = OCTONODE_VERSION;
  if (asked.type === 'invoke') return { octonode, type: 'result', invocationId, status: 'error', error };
  return { octonode, type: 'manifest', invocationId, status: 'error', error };
}

export function spawnFailure(label: string, errno: string, cwd: string): Failure {
  const message = `Cannot start node "${label}" in "${cwd}": ${errno}`;
  return { code: 'RUNTIME_ERROR', message, retryable: true, details: { errno } };
}

export function timeoutFailure(label: string, timeoutMs: number, stderrTail: string): Failure {
  const message = `Node "${label}" did not answer within ${Math.round(timeoutMs)} ms`;
  return { code: 'TIMEOUT', message, retryable: true, details: { timeoutMs, stderrTail } };
}

export function cancelledFailure(label: string): Failure {
  return {
    code: 'RUNTIME_ERROR',
    message: `Call of node "${label}" was cancelled`,
    retryable: false,
    details: { cancelled: true },
  };
}

export function noOutputFailure(ending: Ending): Failure {
  const message = `Node "${ending.label}" gave no answer (${describeEnding(ending)})`;
  return { code: 'RUNTIME_ERROR', message, retryable: false, details: endingDetails(ending) };
}

/** `problem` completes the sentence `Node "x" …`. */
export function badAnswerFailure(ending: Ending, problem: string, excerpt: string): Failure {
  const short = excerpt.length > 80 ? `${excerpt.slice(0, 80)}…` : excerpt;
  const quoted = short === '' ? '' : `: ${JSON.stringify(short)}`;
  return {
    code: 'RUNTIME_ERROR',
    message: `Node "${ending.label}" ${problem}${quoted} (${describeEnding(ending)})`,
    retryable: false,
    details: { excerpt: excerpt.slice(0, MAX_EXCERPT_CHARACTERS), problem, ...endingDetails(ending) },
  };
}

export function overflowFailure(label: string, maxAnswerBytes: number): Failure {
  const message = `Node "${label}" wrote more than the output limit of ${maxAnswerBytes} bytes`;
  return { code: 'RUNTIME_ERROR', message, retryable: false, details: { maxAnswerBytes } };
}

export function schemaFailure(
  label: string,
  side: 'Inputs' | 'Outputs',
  errors: readonly SchemaError[],
): Failure {
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`;
  const message = `${side} of node "${label}" break its schema${where}: ${first?.message ?? 'not valid'}`;
  return { code: 'VALIDATION_ERROR', message, retryable: false, details: { errors } };
}

export function notJsonFailure(label: string, reason: string): Failure {
  const message = `Inputs for node "${label}" cannot be sent as JSON: ${reason}`;
  return {
    code: 'VALIDATION_ERROR',
    message,
    retryable: false,
    details: { errors: [{ path: '', message: reason }] },
  };
}

/** In flight when the worker ended; another attempt may meet a healthy one. */
export function workerDeathFailure(ending: Ending): Failure {
  const message = `Worker "${ending.label}" ended with the call in flight (${describeEnding(ending)})`;
  return { code: 'RUNTIME_ERROR', message, retryable: true, details: endingDetails(ending) };
}

/** In flight when the worker was killed for another call's deadline. */
export function workerKilledFailure(label: string): Failure {
  const message = `Worker "${label}" was killed because another call was over its deadline`;
  return { code: 'RUNTIME_ERROR', message, retryable: true, details: { workerKilled: true } };
}

export function givenUpFailure(ending: Ending, deaths: number, errno: string | undefined): Failure {
  const last = errno === undefined ? describeEnding(ending) : `cannot start: ${errno}`;
  const message = `Worker "${ending.label}" was given up after ${deaths} quick deaths (last: ${last})`;
  const details = { breaker: 'open', deaths, ...(errno === undefined ? endingDetails(ending) : { errno }) };
  return { code: 'RUNTIME_ERROR', message, retryable: false, details };
}

export function refusedFailure(label: string, reason: string, retryable: boolean): Failure {
  return { code: 'RUNTIME_ERROR', message: `Worker "${label}" takes no call: ${reason}`, retryable };
}

export function describeEnding({ exitCode, signal }: Pick<Ending, 'exitCode' | 'signal'>): string {
  if (signal !== null) return `ended by ${signal}`;
  return exitCode === null ? 'still running' : `exit status ${exitCode}`;
}

function endingDetails({ exitCode, signal, stderrTail }: Ending): Record<string, unknown> {
  return { exitCode, signal, stderrTail };
}
