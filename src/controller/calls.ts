// The requests that are under way on one connection to a gateway, and the answers that belong to them. Each request travels
// under an id of the controller's own; answers go back under the id that the operator gave. What a gateway sends is passed
// on byte by byte, and only to those whose operation it names. Every call ends once: with its answer or with the connection.

import { isUtf8 } from 'node:buffer';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { encodeFailure, type Frame } from '../protocol/envelopes.ts';
import { BurrowError } from '../protocol/errors.ts';

export interface Call {
  /** The operator's id as JSON text. */
  idJson: string;
  operationId: string | undefined;
  send(frame: Frame): void;
  onAccepted?(): void;
  /** Last, with the answer as it came, or with why there is none. */
  onEnd(end: CallEnd): void;
}

export type CallEnd =
  | { status: 'ok'; result: Record<string, unknown> }
  | { status: 'refused'; code: string }
  | { status: 'lost' };

export interface Calls {
  /** The id for the request of `call`. */
  begin(call: Call): string;
  /** Forgets a call whose request was not sent after all. */
  cancel(requestId: string): void;
  /** Throws `invalid_json` or `invalid_message` for a line that no gateway would send. */
  receive(line: Buffer): void;
  /** Ends every call without an answer. */
  lose(): void;
  /** Answers `call` with `error` and passes nothing on any more; its operation runs on. */
  abandon(call: Call, error: BurrowError): void;
  size(): number;
}

/** `prefix` makes the ids unlike those of an earlier connection, whose answers a gateway may still send on this one. */
export function createCalls(prefix: string): Calls {
  const byRequest = new Map<string, Call>();
  const byOperation = new Map<string, Call>();
  let nextId = 1;

  const forget = (id: string, call: Call): void => {
    byRequest.delete(id);
    const { operationId } = call;
    if (operationId !== undefined && byOperation.get(operationId) === call) byOperation.delete(operationId);
  };
  const answer = (line: Buffer, value: Envelope): void => {
    const id = String(value['requestId']);
    const call = byRequest.get(id);
    // An answer to a call that was given up, or to nothing that was asked.
    if (call === undefined) return;
    if (typeof value['ok'] !== 'boolean') throw invalid('ok');
    forget(id, call);
    call.send(fitted(readdressed(line, value, call), call));
    call.onEnd(endOf(value));
  };
  const accept = (line: Buffer, value: Envelope): void => {
    const call = byRequest.get(String(value['requestId']));
    const operationId = value['operationId'];
    if (typeof operationId !== 'string') throw invalid('operationId');
    if (call === undefined) return;
    call.operationId = operationId;
    byOperation.set(operationId, call);
    call.onAccepted?.();
    call.send(readdressed(line, value, call));
  };

  return {
    begin(call) {
      const id = `${prefix}-${nextId}`;
      nextId += 1;
      byRequest.set(id, call);
      return id;
    },
    cancel: (id) => void byRequest.delete(id),
    receive(line) {
      const value = parse(line);
      switch (value['type']) {
        case 'response':
        case 'error':
          return answer(line, value);
        case 'accepted':
          return accept(line, value);
        case 'process.stream':
        case 'process.terminal':
          return byOperation.get(String(value['operationId']))?.send([line, '\n']);
        default:
          // A newer gateway may say more than this controller knows.
          return;
      }
    },
    lose() {
      const calls = [...byRequest.values()];
      byRequest.clear();
      byOperation.clear();
      for (const call of calls) {
        call.send(encodeFailure(call.idJson, disconnected(call.operationId)));
        call.onEnd({ status: 'lost' });
      }
    },
    abandon(call, error) {
      for (const [id, other] of byRequest) if (other === call) forget(id, call);
      call.send(encodeFailure(call.idJson, error));
      call.onEnd({ status: 'lost' });
    },
    size: () => byRequest.size,
  };
}

type Envelope = Record<string, unknown>;

function parse(line: Buffer): Envelope {
  let value: unknown;
  try {
    value = isUtf8(line) ? JSON.parse(line.toString()) : undefined;
  } catch {
    // Told below; the text of the engine would quote the line.
  }
  if (value === undefined) throw new BurrowError('invalid_json');
  if (typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string') {
    return value as Envelope;
  }
  throw invalid('type');
}

function invalid(field: string): BurrowError {
  return new BurrowError('invalid_message', { message: `Field "${field}" of a line is not valid` });
}

/** The line under the operator's id. As a rule our id stands where it always does, and nothing is encoded again. */
function readdressed(line: Buffer, value: Envelope, { idJson }: Call): Frame {
  const { type, requestId, ...others } = value;
  const head = `{"type":${JSON.stringify(type)},"requestId":`;
  const usual = `${head}${JSON.stringify(requestId)},`;
  if (line.toString('latin1', 0, usual.length) === usual) {
    return [`${head}${idJson},`, line.subarray(usual.length), '\n'];
  }
  return `${head}${idJson},${JSON.stringify(others).slice(1)}\n`;
}

/** An operator's id may be longer than ours was. */
function fitted(frame: Frame, { idJson, operationId }: Call): Frame {
  const sizeBytes =
    typeof frame === 'string'
      ? Buffer.byteLength(frame)
      : frame.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (sizeBytes <= MAX_FRAME_BYTES) return frame;
  return encodeFailure(
    idJson,
    new BurrowError('output_frame_too_large', operationId === undefined ? {} : { operationId }),
  );
}

function endOf(value: Envelope): CallEnd {
  if (value['ok'] === true) return { status: 'ok', result: asObject(value['result']) };
  return { status: 'refused', code: String(asObject(value['error'])['code'] ?? 'unknown').slice(0, 100) };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Spec: the operation id, that a retry can help, and which. */
export function disconnected(operationId: string | undefined): BurrowError {
  return new BurrowError('gateway_disconnected', {
    ...(operationId === undefined ? {} : { operationId }),
    action: 'retry_same_operation_id_after_reconnect',
  });
}
