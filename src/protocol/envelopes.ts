// Outgoing frames as text: one line of JSON and its newline, put together from parts that are already JSON, so that a
// payload is serialised once however often it travels. The order of fields is the order of the protocol text.

import { clipUtf8 } from '../support/utf8.ts';
import { MAX_ERROR_MESSAGE_BYTES, MAX_TLS_FRAME_BYTES, PROTOCOL_VERSION } from './defaults.ts';
import { type BurrowError, ERRORS } from './errors.ts';
import { escapeJson, MAX_ESCAPED_BYTES } from './json-escape.ts';

/** Below this a string costs less. */
const MIN_ESCAPED_BYTES = 16 * 1024;

export { parseReply, type Reply } from './replies.ts';

/**
 * One line of JSON and its newline, or the parts that make it when written one after another: joining them as one string
 * first would copy a large payload once more. Parts that are bytes are good until the next frame is encoded.
 */
export type Frame = string | readonly (string | Buffer)[];

export function frameText(frame: Frame): string {
  return typeof frame === 'string' ? frame : frame.map(String).join('');
}

export interface StreamParts {
  operationIdJson: string;
  stream: 'stdout' | 'stderr';
  /** From 1, over the stream and terminal events of one operation together. */
  seq: number;
  text: StreamText;
  truncated: boolean;
}

/** The output that an event carries, as a string, and as valid UTF-8 where it is there already. */
export interface StreamText {
  readonly text: string;
  readonly utf8?: Buffer | undefined;
}

export interface TerminalParts {
  operationIdJson: string;
  seq: number;
  outcomeJson: string;
}

export interface OutcomeParts {
  idJson: string;
  operationIdJson: string;
  replay: boolean;
  outcomeJson: string;
  /** Only when the outcome could not be brought to disk. */
  journaled?: false;
}

export function encodeResult(idJson: string, result: object): string {
  return `{"type":"response","requestId":${idJson},"ok":true,"result":${JSON.stringify(result)}}\n`;
}

/**
 * `type:"error"` for the codes of the area `envelope`, `type:"response"` for all others. Carries the details of the error,
 * `retryable` only when true. Never longer than a frame: details that would not fit are left out, the message is clipped.
 */
export function encodeFailure(idJson: string, error: BurrowError): string {
  const type = ERRORS[error.code].area === 'envelope' ? 'error' : 'response';
  const head = `{"type":"${type}","requestId":${idJson},"ok":false,"error":`;
  const { operationId } = error.details;
  const frame = `${head}${JSON.stringify(wireError(error, error.details))}}\n`;
  if (fitsFrame(frame)) return frame;
  return `${head}${JSON.stringify(wireError(error, operationId === undefined ? {} : { operationId }))}}\n`;
}

export function encodeAccepted(idJson: string, operationId: string): string {
  const operationIdJson = JSON.stringify(operationId);
  return `{"type":"accepted","requestId":${idJson},"ok":true,"operationId":${operationIdJson},"protocolVersion":"${PROTOCOL_VERSION}"}\n`;
}

export function encodeStream({ operationIdJson, stream, seq, text, truncated }: StreamParts): Frame {
  const head = `{"type":"process.stream","operationId":${operationIdJson},"stream":"${stream}","seq":${seq},"data":`;
  const { utf8 } = text;
  if (utf8 === undefined || utf8.length < MIN_ESCAPED_BYTES || utf8.length > MAX_ESCAPED_BYTES) {
    return [head, JSON.stringify(text.text), `,"truncated":${truncated}}\n`];
  }
  return [`${head}"`, escapeJson(utf8), `","truncated":${truncated}}\n`];
}

export function encodeTerminal({ operationIdJson, seq, outcomeJson }: TerminalParts): Frame {
  const head = `{"type":"process.terminal","operationId":${operationIdJson},"seq":${seq},"evidence":`;
  return [head, outcomeJson, '}\n'];
}

export function encodeOutcomeResponse(parts: OutcomeParts): Frame {
  const { idJson, operationIdJson, replay, outcomeJson } = parts;
  const journaled = parts.journaled === false ? ',"journaled":false' : '';
  const head = `{"type":"response","requestId":${idJson},"ok":true,"result":{"operationId":${operationIdJson},"replay":${replay},"outcome":`;
  return [head, outcomeJson, `${journaled}}}\n`];
}

/** The last word of a connection that is closed because of `error`; it answers no request. */
export function encodeTransportError(error: BurrowError): string {
  return `{"type":"transport.error","ok":false,"error":${JSON.stringify(wireError(error, error.details))}}\n`;
}

function wireError(error: BurrowError, details: BurrowError['details']): object {
  const { message, operationId, issues, errno, retryable, ...others } = details;
  return {
    code: error.code,
    message: clipUtf8(error.message, MAX_ERROR_MESSAGE_BYTES),
    operationId,
    issues,
    errno,
    retryable: (retryable ?? ERRORS[error.code].retryable) === true ? true : undefined,
    ...others,
  };
}

function fitsFrame(frame: string): boolean {
  // A UTF-16 unit takes at most three bytes: the usual short frame needs no count.
  return frame.length * 3 <= MAX_TLS_FRAME_BYTES || Buffer.byteLength(frame) <= MAX_TLS_FRAME_BYTES;
}
