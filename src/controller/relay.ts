// Sends a request of an operator on to the host that it names and brings back what that host answers. Promises that a request
// goes out once: when the line ends first the operator is told so and repeats it under the same operation id. Protected
// values are bound to this one delivery, kept nowhere, and never sent again for an operation that has begun.

import * as v from 'valibot';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import type { Frame } from '../protocol/envelopes.ts';
import { BurrowError } from '../protocol/errors.ts';
import { paramsError } from '../protocol/issues.ts';
import { OperationIdSchema } from '../protocol/params-text.ts';
import type { Request } from '../protocol/request.ts';
import { parseTelemetryParams } from '../protocol/telemetry-params.ts';
import { TraceContextSchema } from '../protocol/trace-context.ts';
import type { Activity, ActivityList } from './activity.ts';
import type { Call, CallEnd } from './calls.ts';
import type { Link } from './link.ts';
import type { PairingDesk } from './pairing-desk.ts';
import type { Member, Roster } from './roster.ts';

const RELAYED: ReadonlySet<string> = new Set([
  ...['hello', 'health', 'cancel', 'shutdown'],
  ...['telemetry.configure', 'process.exec', 'filesystem.execute'],
]);

/** What the controller looks at itself; the gateway judges the rest. */
const ExecuteSchema = v.looseObject({
  operationId: v.pipe(OperationIdSchema, v.minLength(1, 'Expected a string that is not empty')),
  traceContext: v.nullish(TraceContextSchema),
});

export interface RelayDeps {
  roster: Roster;
  desk: PairingDesk;
  activity: ActivityList;
}

export interface Outgoing {
  request: Request;
  target: string;
  send(frame: Frame): void;
  /** Last. */
  onEnd(): void;
}

export interface Relayed {
  link: Link;
  call: Call;
}

/** Throws the code to answer the operator with when nothing was sent. */
export function relay({ request, target, send, onEnd }: Outgoing, deps: RelayDeps): Relayed {
  const { method, idJson } = request;
  if (!RELAYED.has(method)) throw new BurrowError('unknown_method');
  const operationId = checkParams(request);
  const { link, gatewayId } = findGateway(target, operationId, deps);
  const start = operationId === undefined ? undefined : planEntry(request, operationId, gatewayId, deps);
  let entry: Activity | undefined;
  const call: Call = {
    idJson,
    operationId,
    send,
    onAccepted() {
      if (entry !== undefined) entry.accepted = true;
    },
    onEnd(end) {
      if (entry !== undefined) deps.activity.end(entry, summary(end));
      onEnd();
    },
  };
  const requestId = link.calls.begin(call);
  const frame = encodeRequest({ requestId, request, gatewayId, connectionId: link.connectionId ?? '' });
  if (Buffer.byteLength(frame) > MAX_FRAME_BYTES) {
    link.calls.cancel(requestId);
    throw new BurrowError('frame_too_large');
  }
  if (start !== undefined) entry = deps.activity.begin(start);
  link.send(frame);
  return { link, call };
}

/** The operation id of a request that runs something. */
function checkParams({ method, params }: Request): string | undefined {
  if (method === 'telemetry.configure') {
    const parsed = parseTelemetryParams(params);
    if (parsed.status === 'invalid') throw parsed.error;
  }
  if (method !== 'process.exec' && method !== 'filesystem.execute') return undefined;
  const parsed = v.safeParse(ExecuteSchema, params);
  if (!parsed.success) throw paramsError(parsed.issues, [['traceContext', 'trace_context_invalid']]);
  if (isPresent(params['protectedDelivery'])) {
    throw new BurrowError('protected_delivery_binding_invalid', {
      message: 'The controller binds protected values itself: send them without protectedDelivery',
    });
  }
  if (isPresent(params['protectedValues']) && method !== 'process.exec') {
    throw new BurrowError('protected_delivery_binding_invalid', {
      message: 'Protected values are taken by process.exec only',
    });
  }
  return parsed.output.operationId;
}

function findGateway(target: string, operationId: string | undefined, { roster, desk }: RelayDeps): Member {
  const details = operationId === undefined ? {} : { operationId };
  const member = roster.find(target);
  if (member === undefined) {
    const code = desk.isWaiting(target) ? 'gateway_not_ready' : 'gateway_not_connected';
    throw new BurrowError(code, details);
  }
  if (member.link.isClogged()) {
    throw new BurrowError('gateway_not_ready', {
      ...details,
      message: 'Gateway does not read what is sent to it',
    });
  }
  return member;
}

function planEntry(
  { method, params }: Request,
  operationId: string,
  target: string,
  { activity }: RelayDeps,
): Parameters<ActivityList['begin']>[0] {
  const isProtected = isPresent(params['protectedValues']);
  const earlier = isProtected ? activity.find(target, operationId) : undefined;
  // Whether it ended is not known here; the values are with it already.
  if (earlier?.isProtected && earlier.accepted && earlier.status === 'running') {
    throw new BurrowError('operation_in_progress', { operationId });
  }
  if (earlier?.isProtected && earlier.accepted && earlier.status === 'lost') {
    throw new BurrowError('protected_redelivery_forbidden', {
      operationId,
      message: 'Operation has begun with its protected values: ask for its outcome without them',
    });
  }
  const kind = method === 'process.exec' ? 'process.exec' : 'filesystem.execute';
  return { operationId, target, kind, isProtected };
}

function encodeRequest(options: {
  requestId: string;
  request: Request;
  gatewayId: string;
  connectionId: string;
}): string {
  const { requestId, request, gatewayId, connectionId } = options;
  const { method, params } = request;
  const sent = isPresent(params['protectedValues'])
    ? {
        ...params,
        protectedDelivery: { gatewayId, connectionId, requestId, operationId: params['operationId'] },
      }
    : params;
  return `${JSON.stringify({ id: requestId, method, params: sent })}\n`;
}

function summary(end: CallEnd): Parameters<ActivityList['end']>[1] {
  if (end.status === 'lost') return { status: 'lost', code: 'gateway_disconnected' };
  if (end.status === 'refused') return { status: 'refused', code: end.code };
  const outcome = asObject(end.result['outcome']);
  const { exitCode, error } = outcome;
  return {
    status: 'completed',
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    code: typeof error === 'string' ? error.slice(0, 100) : null,
    replay: end.result['replay'] === true,
  };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
