// filesystem.execute: turns valid parameters into a run of one tool, in the order accepted, response. Whatever the tool
// says is an outcome, a failure and a cancel among them: it is journalled and replayed like any other.

import type { FilesystemRequest } from '../filesystem/filesystem.ts';
import { encodeAccepted } from '../protocol/envelopes.ts';
import { BurrowError } from '../protocol/errors.ts';
import { fitFileOutcomeJson } from '../protocol/file-outcome.ts';
import {
  FILESYSTEM_TOOL_NAMES,
  type FilesystemParams,
  parseFilesystemParams,
} from '../protocol/filesystem-params.ts';
import { outcomeBudgetBytes } from '../protocol/frame.ts';
import type { Request } from '../protocol/request.ts';
import type { Log } from '../support/log.ts';
import type { Turns } from './turns.ts';
import type { PreparedWork, RunningWork, Ticket } from './work.ts';

/**
 * Tools that run at once. Each may hold an answer of a frame and a buffer or two besides; the operations beyond these are
 * accepted and wait.
 */
export const MAX_RUNNING_TOOLS = 32;

export interface FilesystemOperationDeps {
  /** Runs a tool; resolves to its outcome as JSON text, also when it fails or `signal` is aborted. */
  runFilesystemTool(request: FilesystemRequest, signal: AbortSignal): Promise<string>;
  fileTurns: Turns;
  log: Log;
}

/** Throws the BurrowError of the first rule that the parameters break. */
export function prepareFilesystem(request: Request, deps: FilesystemOperationDeps): PreparedWork {
  const parsed = parseFilesystemParams(request.params);
  if (parsed.status === 'invalid') throw parsed.error;
  const params = parsed.value;
  return {
    operationId: params.operationId,
    carriesProtectedValues: false,
    span: {
      kind: 'filesystem.execute',
      // A name that is not ours can be any text.
      tool: FILESYSTEM_TOOL_NAMES.includes(params.tool) ? params.tool : 'unknown',
    },
    traceContext: params.traceContext,
    start: (ticket) => startTool(params, ticket, deps),
    refit: (outcomeJson, maxBytes) => ({ status: 'fits', json: fitFileOutcomeJson(outcomeJson, maxBytes) }),
  };
}

function startTool(params: FilesystemParams, ticket: Ticket, deps: FilesystemOperationDeps): RunningWork {
  const abort = new AbortController();
  ticket.connection.send(encodeAccepted(ticket.idJson, ticket.operationId));
  const turn = deps.fileTurns.take(() => runTool(params, { ticket, signal: abort.signal }, deps));
  return {
    cancel() {
      abort.abort();
      turn.hurry();
    },
    pause: () => turn.hold(true),
    resume: () => turn.hold(false),
  };
}

async function runTool(
  params: FilesystemParams,
  { ticket, signal }: { ticket: Ticket; signal: AbortSignal },
  deps: FilesystemOperationDeps,
): Promise<void> {
  const { connection, idJson, operationId } = ticket;
  let json: string;
  try {
    json = await deps.runFilesystemTool({ tool: params.tool, arguments: params.arguments }, signal);
  } catch (error) {
    // A tool answers every failure as an outcome; even so the operation must end and be answered.
    deps.log.error(`internal_error: ${params.tool.slice(0, 64)}: ${String(error)}`);
    return ticket.refuse(new BurrowError('internal_error', { operationId }, error));
  }
  const budgetBytes = outcomeBudgetBytes(connection.maxFrameBytes, idJson, operationId);
  const outcomeJson = fitFileOutcomeJson(json, budgetBytes);
  ticket.complete(outcomeJson, !outcomeJson.startsWith(`{"tool":${JSON.stringify(params.tool)},"ok":true,`));
}
