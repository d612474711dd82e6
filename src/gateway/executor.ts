// From an execute request to an answer: identity first (digest, operation id), then the journal, then the table of
// running operations, and only then the work itself. A completed operation is never run again, a running one never twice.

import { requestDigest } from '../protocol/digest.ts';
import { encodeFailure, encodeOutcomeResponse, type Frame } from '../protocol/envelopes.ts';
import { BurrowError, isBurrowError } from '../protocol/errors.ts';
import { outcomeBudgetBytes } from '../protocol/frame.ts';
import type { Request } from '../protocol/request.ts';
import type { Log } from '../support/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Connection } from './connection.ts';
import { type FilesystemOperationDeps, prepareFilesystem } from './filesystem-operation.ts';
import type { Journal } from './journal/journal.ts';
import type { OperationTable } from './operation-table.ts';
import { type ProcessOperationDeps, prepareProcess } from './process-operation.ts';
import { createTurns, type Turn, type Turns } from './turns.ts';
import type { PreparedWork } from './work.ts';

/** Each holds up to a frame of outcome, encoded and not. */
const MAX_REPLAYS_AT_ONCE = 4;

export interface ExecutorDeps extends ProcessOperationDeps, FilesystemOperationDeps {
  journal: Journal;
  operations: OperationTable;
  log: Log;
  telemetry: Pick<Telemetry, 'startOperation'>;
  /** What spans name as their target where a connection does not say better. */
  gatewayId: string;
}

/** Throws a BurrowError for a method that is not known or a request that is refused before it starts; everything later is answered on the connection. */
export type Execute = (request: Request, connection: Connection) => void;

/** The two kinds of work by the method that asks for them. */
const PREPARE = new Map<
  string,
  (request: Request, deps: ExecutorDeps, connection: Connection) => PreparedWork
>([
  ['process.exec', prepareProcess],
  ['filesystem.execute', prepareFilesystem],
]);

export function createExecutor(deps: ExecutorDeps): Execute {
  const replayTurns = createTurns(MAX_REPLAYS_AT_ONCE);
  return (request, connection) => {
    const prepare = PREPARE.get(request.method);
    if (prepare === undefined) {
      throw new BurrowError('unknown_method', {
        message: `Method "${request.method.slice(0, 64)}" is not known`,
      });
    }
    const work = prepare(request, deps, connection);
    const digest = requestDigest(request.method, request.params);
    const operationId = work.operationId ?? digest;
    const completedDigest = deps.journal.digestOf(operationId);
    if (completedDigest === undefined) {
      deps.operations.admit(operationId, digest);
      return start(work, { request, connection, idJson: request.idJson, operationId, digest }, deps);
    }
    if (work.carriesProtectedValues) throw new BurrowError('protected_redelivery_forbidden', { operationId });
    if (completedDigest !== digest) throw new BurrowError('operation_id_conflict', { operationId });
    const { idJson } = request;
    takeReplayTurn({ connection, idJson, operationId, refit: work.refit }, replayTurns, deps);
  };
}

/** Whom an answer goes to, and under which ids. */
interface Answered {
  connection: Connection;
  idJson: string;
  operationId: string;
}

interface Identified extends Answered {
  request: Request;
  digest: string;
}

function start(work: PreparedWork, identified: Identified, deps: ExecutorDeps): void {
  const { connection, operationId, digest } = identified;
  const { idJson } = identified.request;
  let ended = false;
  const end = (frame: Frame): void => {
    ended = true;
    // First the answer: whoever waits until nothing runs any more has it then.
    connection.send(frame);
    deps.operations.remove(operationId);
  };
  // The operation stays active until its outcome is safe: a duplicate that arrives meanwhile is told so.
  const record = (outcomeJson: string, frame: (journaled: boolean) => Frame): void =>
    deps.journal.record({ operationId, requestDigest: digest, outcomeJson }, (journaled) =>
      end(frame(journaled)),
    );

  const span = deps.telemetry.startOperation({
    ...work.span,
    target: connection.secure?.gatewayId ?? deps.gatewayId,
    operationId,
    traceContext: work.traceContext,
  });
  const running = work.start({
    operationId,
    idJson,
    connection,
    complete(outcomeJson, failed) {
      span.end(failed);
      record(outcomeJson, (journaled) => response(identified, outcomeJson, { replay: false, journaled }));
    },
    completeUndeliverable(outcomeJson, error) {
      span.end(true);
      record(outcomeJson, () => encodeFailure(idJson, error));
    },
    refuse: (error) => end(encodeFailure(idJson, error)),
  });
  if (!ended)
    deps.operations.add({ id: operationId, requestDigest: digest, owner: connection, work: running });
}

/** What a replay needs of its request: params, which may be large, are not kept while it waits. */
interface Replay extends Answered {
  refit: PreparedWork['refit'];
}

/** In turns, and none for a peer that does not read: each holds an outcome of up to a frame. */
function takeReplayTurn(replay: Replay, turns: Turns, deps: ExecutorDeps): void {
  let turn: Turn | undefined;
  const hold = (held: boolean): void => turn?.hold(held);
  const settled = deps.operations.owe(replay.connection, {
    pause: () => hold(true),
    resume: () => hold(false),
  });
  turn = turns.take(() => answerReplay(replay, deps).finally(settled));
  // The peer may have been behind before.
  if (deps.operations.isHeldBack(replay.connection)) turn.hold(true);
}

async function answerReplay(replay: Replay, deps: ExecutorDeps): Promise<void> {
  const { connection, idJson, operationId } = replay;
  try {
    const stored = await deps.journal.read(operationId);
    // It expired between the look-up and the read: the caller must decide whether to run it again.
    if (stored === undefined)
      throw new BurrowError('operation_in_progress', { operationId, message: 'Outcome is just expiring' });
    const fitted = replay.refit(stored, outcomeBudgetBytes(connection.maxFrameBytes, idJson, operationId));
    if (fitted.status === 'too_large') throw new BurrowError('output_frame_too_large', { operationId });
    connection.send(response(replay, fitted.json, { replay: true, journaled: true }));
  } catch (error) {
    if (!isBurrowError(error)) deps.log.error(`internal_error: cannot replay an operation: ${String(error)}`);
    const known = isBurrowError(error) ? error : new BurrowError('internal_error', { operationId }, error);
    connection.send(encodeFailure(idJson, known));
  }
}

function response(
  answered: Answered,
  outcomeJson: string,
  how: { replay: boolean; journaled: boolean },
): Frame {
  return encodeOutcomeResponse({
    idJson: answered.idJson,
    operationIdJson: JSON.stringify(answered.operationId),
    replay: how.replay,
    outcomeJson,
    ...(how.journaled ? {} : { journaled: false }),
  });
}
