// What a host does with a request: one gateway serves any number of connections, runs their operations,
// answers replays from the journal and says how it is. It promises that every line that carries a request is
// answered once, in the order of the protocol, and that no failure of one request touches another.
// It knows neither sockets nor streams: a connection is a function to send frames, and a session to feed lines.

import { GATEWAY_NAME, PROTOCOL_VERSION } from '../protocol/defaults.ts';
import { encodeFailure, encodeResult } from '../protocol/envelopes.ts';
import { BurrowError, isBurrowError } from '../protocol/errors.ts';
import { parseRequest, type Request, recoverId } from '../protocol/request.ts';
import { parseCancelParams } from '../protocol/simple-params.ts';
import { parseTelemetryParams } from '../protocol/telemetry-params.ts';
import type { Log } from '../support/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Connection, Session, TransportName } from './connection.ts';
import { createExecutor, type ExecutorDeps } from './executor.ts';
import { MAX_RUNNING_TOOLS } from './filesystem-operation.ts';
import { createOperationTable, type OperationTable } from './operation-table.ts';
import { createTurns } from './turns.ts';

/** An id takes up to 1.5 KiB of JSON, so these take up to 1.5 MiB of a frame. */
const MAX_LISTED_OPERATIONS = 1_024;

export interface GatewayDeps extends Omit<ExecutorDeps, 'operations' | 'fileTurns'> {
  log: Log;
  version: string;
  telemetry: Telemetry;
  /** What the transports add to health: their fields, and whether all is well with them. */
  transportHealth?: () => { ok: boolean };
}

export interface GatewayOptions {
  maxActiveOperations: number;
  /** Called when a peer asks for `shutdown`, after its answer was queued. */
  onShutdownRequest: () => void;
}

export interface Gateway {
  connect(connection: Connection): Session;
  /** Refuses new work, cancels what runs and resolves when every outcome is journalled and answered. */
  stop(): Promise<void>;
}

/** As its maker has it. */
export interface OwnedGateway extends Gateway {
  /** As `stop`, with SIGKILL at once. May be called while `stop` waits. */
  kill(): Promise<void>;
}

export function createGateway(deps: GatewayDeps, options: GatewayOptions): OwnedGateway {
  const operations = createOperationTable(options.maxActiveOperations);
  const execute = createExecutor({ ...deps, operations, fileTurns: createTurns(MAX_RUNNING_TOOLS) });
  const startedAtMs = deps.clock.monotonicMs();

  const health = (): object => {
    const journal = deps.journal.status();
    const { ok, ...transports } = deps.transportHealth?.() ?? { ok: true };
    return {
      status: operations.isStopping() ? 'stopping' : ok ? journal.state : 'degraded',
      ...listOperations(operations),
      uptimeMs: Math.round(deps.clock.monotonicMs() - startedAtMs),
      journal,
      telemetry: deps.telemetry.health(),
      ...transports,
    };
  };

  const connect = (connection: Connection): Session => {
    const answer = (request: Request): void => {
      switch (request.method) {
        case 'hello':
          return connection.send(encodeResult(request.idJson, hello(connection.transport, deps.version)));
        case 'health':
          return connection.send(encodeResult(request.idJson, health()));
        case 'cancel':
          return connection.send(encodeResult(request.idJson, cancel(request.params, operations)));
        case 'telemetry.configure':
          return connection.send(
            encodeResult(request.idJson, configureTelemetry(request.params, deps.telemetry)),
          );
        case 'shutdown':
          connection.send(encodeResult(request.idJson, { stopping: true, ...listOperations(operations) }));
          // At once: the next line, in the same chunk perhaps, is refused already.
          operations.stop();
          return options.onShutdownRequest();
        default:
          return execute(request, connection);
      }
    };
    return {
      receive(line) {
        const parsed = parseRequest(line);
        if (parsed.status === 'invalid') return connection.send(encodeFailure(parsed.idJson, parsed.error));
        try {
          answer(parsed.request);
        } catch (error) {
          connection.send(encodeFailure(parsed.request.idJson, asBurrowError(error, deps.log)));
        }
      },
      receiveOversized: (head) =>
        connection.send(encodeFailure(recoverId(head), new BurrowError('frame_too_large'))),
      setSaturated: (saturated) => operations.holdBack(connection, saturated),
      idle: () => operations.idle(connection),
    };
  };

  return {
    connect,
    async stop() {
      operations.stop();
      await operations.idle();
    },
    async kill() {
      operations.kill();
      await operations.idle();
    },
  };
}

/** More ids than a frame surely holds are not all named; what is left out is counted. */
function listOperations(operations: OperationTable): object {
  const ids = operations.ids();
  const left = ids.length - MAX_LISTED_OPERATIONS;
  if (left <= 0) return { activeOperations: ids };
  return { activeOperations: ids.slice(0, MAX_LISTED_OPERATIONS), activeOperationsLeftOut: left };
}

function hello(transport: TransportName, version: string): object {
  return { name: GATEWAY_NAME, version, protocolVersion: PROTOCOL_VERSION, transport };
}

function cancel(params: Record<string, unknown>, operations: OperationTable): object {
  const parsed = parseCancelParams(params);
  if (parsed.status === 'invalid') throw parsed.error;
  return { operationId: parsed.value.operationId, cancelling: operations.cancel(parsed.value.operationId) };
}

function configureTelemetry(params: Record<string, unknown>, telemetry: Telemetry): object {
  const parsed = parseTelemetryParams(params);
  if (parsed.status === 'invalid') throw parsed.error;
  return telemetry.configure(parsed.value);
}

/** The dispatcher is one of the three places where the unforeseen becomes `internal_error`. */
function asBurrowError(error: unknown, log: Log): BurrowError {
  if (isBurrowError(error)) return error;
  log.error(`internal_error: ${error instanceof Error ? error.stack : String(error)}`);
  return new BurrowError('internal_error', {}, error);
}
