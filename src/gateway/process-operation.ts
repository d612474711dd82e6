// process.exec: turns valid parameters into a running process and its events into frames of the protocol,
// in the order accepted, streams, terminal, response.

import { resolve } from 'node:path';
import type { ChildEnvironment, ProcessEvents, ProcessRequest, RunningProcess } from '../process/process.ts';
import { encodeAccepted, encodeStream, encodeTerminal } from '../protocol/envelopes.ts';
import { BurrowError } from '../protocol/errors.ts';
import type { ProcessEvidence } from '../protocol/evidence.ts';
import { type ExecParams, parseExecParams } from '../protocol/exec-params.ts';
import { fitEvidence, outcomeBudgetBytes, refitOutcomeJson } from '../protocol/frame.ts';
import type { Request } from '../protocol/request.ts';
import type { Clock } from '../support/clock.ts';
import type { PreparedWork, RunningWork, Ticket } from './work.ts';

export interface ProcessOperationDeps {
  clock: Clock;
  /** Where relative and absent working directories start. */
  cwd: string;
  /** The whole environment of a child: the host's, less what is private to the daemon, plus the additions. */
  childEnvironment: ChildEnvironment;
  startProcess(request: ProcessRequest, events: ProcessEvents): RunningProcess;
}

/** Throws the BurrowError of the first rule that the parameters break. */
export function prepareProcess(request: Request, deps: ProcessOperationDeps): PreparedWork {
  const parsed = parseExecParams(request.params);
  if (parsed.status === 'invalid') throw parsed.error;
  const params = parsed.value;
  const carriesProtectedValues =
    params.protectedValues !== undefined || params.protectedDelivery !== undefined;
  if (carriesProtectedValues) throw new BurrowError('protected_delivery_binding_invalid');
  return {
    operationId: params.operationId,
    carriesProtectedValues,
    start: (ticket) => startProcess(params, ticket, deps),
    refit: refitOutcomeJson,
  };
}

function startProcess(params: ExecParams, ticket: Ticket, deps: ProcessOperationDeps): RunningWork {
  const { connection, operationId } = ticket;
  const operationIdJson = JSON.stringify(operationId);
  let seq = 0;
  return deps.startProcess(processRequest(params, deps), {
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
      ticket.complete(fitted.json);
    },
    onRefused: (error) =>
      ticket.refuse(new BurrowError(error.code, { ...error.details, operationId }, error)),
  });
}

function processRequest(params: ExecParams, deps: ProcessOperationDeps): ProcessRequest {
  return {
    mode: params.mode,
    executable: params.executable,
    args: params.args,
    command: params.command,
    cwd: params.cwd === null ? deps.cwd : resolve(deps.cwd, params.cwd),
    env: deps.childEnvironment(params.env),
    timeoutMs: params.timeoutMs,
    deadlineMs: params.deadlineMs,
    maxOutputBytes: params.maxOutputBytes,
  };
}

/** An outcome that no frame can carry is kept for the record of what ran; a replay of it fails the same way. */
function withoutText(evidence: ProcessEvidence): object {
  return { ...evidence, stdout: '', stderr: '', truncated: true, transportTruncated: true };
}
