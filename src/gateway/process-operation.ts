// process.exec: turns valid parameters into a running process and its events into frames of the protocol,
// in the order accepted, streams, terminal, response.

import { isAbsolute, resolve } from 'node:path';
import {
  type ChildEnvironment,
  createRedaction,
  type ProcessEvents,
  type ProcessRequest,
  type Redaction,
  type RunningProcess,
} from '../process/process.ts';
import { encodeAccepted, encodeStream, encodeTerminal } from '../protocol/envelopes.ts';
import { BurrowError } from '../protocol/errors.ts';
import type { ProcessEvidence } from '../protocol/evidence.ts';
import { type ExecParams, parseExecParams } from '../protocol/exec-params.ts';
import { fitEvidence, outcomeBudgetBytes, refitOutcomeJson } from '../protocol/frame.ts';
import type { Request } from '../protocol/request.ts';
import type { Clock } from '../support/clock.ts';
import type { Connection } from './connection.ts';
import { openProtectedValues, type ProtectedValues } from './protected-values.ts';
import type { PreparedWork, RunningWork, Ticket } from './work.ts';

export interface ProcessOperationDeps {
  clock: Clock;
  /** Where relative and absent working directories start. Called for those alone; may throw a BurrowError. */
  cwd(): string;
  /** The whole environment of a child: the host's, less what is private to the daemon, plus the additions. */
  childEnvironment: ChildEnvironment;
  /** With a redaction, it works on the output before anything else sees it. */
  startProcess(request: ProcessRequest, events: ProcessEvents, redaction?: Redaction): RunningProcess;
}

/** Throws the BurrowError of the first rule that the parameters break. */
export function prepareProcess(
  request: Request,
  deps: ProcessOperationDeps,
  connection: Connection,
): PreparedWork {
  const parsed = parseExecParams(request.params);
  if (parsed.status === 'invalid') throw parsed.error;
  const params = parsed.value;
  const carriesProtectedValues =
    params.protectedValues !== undefined || params.protectedDelivery !== undefined;
  const protectedValues = openProtectedValues(params, request, connection.secure);
  const cwd = directoryOf(params, deps);
  return {
    operationId: params.operationId,
    carriesProtectedValues,
    span: { kind: 'process.exec', tool: params.mode },
    traceContext: params.traceContext,
    start: (ticket) => startProcess({ params, protectedValues, cwd }, ticket, deps),
    refit: refitOutcomeJson,
  };
}

interface Execution {
  params: ExecParams;
  protectedValues: ProtectedValues;
  /** Absolute. */
  cwd: string;
}

function startProcess(execution: Execution, ticket: Ticket, deps: ProcessOperationDeps): RunningWork {
  const { connection, operationId } = ticket;
  const operationIdJson = JSON.stringify(operationId);
  const redaction = createRedactionFor(execution.protectedValues);
  let seq = 0;
  const events: ProcessEvents = {
    onStarted: () => connection.send(encodeAccepted(ticket.idJson, operationId)),
    onStream({ stream, text, truncated }) {
      seq += 1;
      connection.send(encodeStream({ operationIdJson, stream, seq, text, truncated }));
    },
    onEnd(evidence) {
      const budgetBytes = outcomeBudgetBytes(connection.maxFrameBytes, ticket.idJson, operationId);
      const fitted = fitEvidence(evidence, budgetBytes);
      if (fitted.status === 'too_large') {
        const error = new BurrowError('output_frame_too_large', { operationId });
        return ticket.completeUndeliverable(JSON.stringify(withoutText(evidence)), error);
      }
      connection.send(encodeTerminal({ operationIdJson, seq: seq + 1, outcomeJson: fitted.json }));
      ticket.complete(fitted.json, evidence.exitCode !== 0 || evidence.cancelled || evidence.timedOut);
    },
    onRefused: (error) => ticket.refuse(refusal(error, operationId, redaction)),
  };
  return deps.startProcess(processRequest(execution, deps), events, redaction);
}

function createRedactionFor(values: ProtectedValues): Redaction | undefined {
  return values.length === 0 ? undefined : createRedaction(values.map(([, value]) => value.reveal()));
}

/** What it says of the program and its directory goes the way of output: it could hold a value too. */
function refusal(error: BurrowError, operationId: string, redaction: Redaction | undefined): BurrowError {
  const details = Object.entries({ ...error.details, message: error.message }).map(([name, value]) => [
    name,
    typeof value === 'string' ? (redaction?.redactText(value) ?? value) : value,
  ]);
  return new BurrowError(error.code, { ...Object.fromEntries(details), operationId }, error);
}

/** Before anything has begun, since there may be none. */
function directoryOf({ cwd }: ExecParams, deps: ProcessOperationDeps): string {
  if (cwd === null) return deps.cwd();
  return isAbsolute(cwd) ? resolve(cwd) : resolve(deps.cwd(), cwd);
}

function processRequest(
  { params, protectedValues, cwd }: Execution,
  deps: ProcessOperationDeps,
): ProcessRequest {
  return {
    mode: params.mode,
    executable: params.executable,
    args: params.args,
    command: params.command,
    cwd,
    // Of the same name the last wins.
    env: deps.childEnvironment([
      ...params.env,
      ...protectedValues.map(([name, value]) => [name, value.reveal()] as const),
    ]),
    timeoutMs: params.timeoutMs,
    deadlineMs: params.deadlineMs,
    maxOutputBytes: params.maxOutputBytes,
  };
}

/** An outcome that no frame can carry is kept for the record of what ran; a replay of it fails the same way. */
function withoutText(evidence: ProcessEvidence): object {
  return { ...evidence, stdout: '', stderr: '', truncated: true, transportTruncated: true };
}
