// One line becomes a request, or the error to answer it with and the id to answer to. Never throws, never recurses into
// the text, and takes nothing from it but `id`, `method`, `params` and, for a controller, `target`.

import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { MAX_ID_JSON_BYTES, MAX_PARAMS_DEPTH } from './defaults.ts';
import { BurrowError } from './errors.ts';
import { recoverId } from './recover-id.ts';

export { recoverId };

export interface Request {
  /** The id as JSON text, echoed in every answer: same type, same value, the digits of odd numbers as written. */
  idJson: string;
  id: string | number | boolean | null;
  method: string;
  params: Record<string, unknown>;
  /** The host that is meant, as it came: read by a controller, ignored by a gateway. */
  target?: unknown;
}

/** The published form of the rules below; the parser keeps `params` as it came, where a schema would copy it. */
export const RequestSchema = v.object({
  id: v.nullish(v.union([v.string(), v.number(), v.boolean()])),
  method: v.string(),
  // Not v.record(), which takes arrays.
  params: v.nullish(v.pipe(v.custom<Record<string, unknown>>(isObject), v.metadata({ type: 'object' }))),
});

export type ParsedRequest =
  | { status: 'request'; request: Request }
  | { status: 'invalid'; idJson: string; error: BurrowError };

/**
 * The request in `line` (without its newline). A byte-order mark before the object is skipped (RFC 8259, section 8.1).
 * Codes: `invalid_json` (also for bytes that are not UTF-8), `invalid_message`, and `invalid_params` for params nested
 * deeper than 1,000. The id is given back whenever it can be read.
 */
export function parseRequest(line: Buffer): ParsedRequest {
  if (!isUtf8(line)) return invalid(recoverId(line), 'invalid_json', 'Line is not valid UTF-8');
  let envelope: unknown;
  try {
    envelope = JSON.parse(textOf(line));
  } catch {
    // The engine's own message would quote the line, which may hold a secret.
    return invalid(recoverId(line), 'invalid_json');
  }
  if (!isObject(envelope)) return invalidMessage('null', '', 'Expected an object');
  const { id = null, method, params, target } = envelope;
  if (!isId(id)) return invalidMessage('null', 'id', 'Expected a string, a number, a boolean or null');
  const idJson = encodeId(id, line);
  if (idJson === undefined) {
    return invalidMessage('null', 'id', `Expected at most ${MAX_ID_JSON_BYTES} bytes of JSON text`);
  }
  if (typeof method !== 'string') return invalidMessage(idJson, 'method', 'Expected a string');
  if (params === undefined || params === null) {
    return { status: 'request', request: { idJson, id, method, params: {}, target } };
  }
  if (!isObject(params)) return invalidMessage(idJson, 'params', 'Expected an object');
  if (isTooDeep(params, line.length)) return tooDeep(idJson);
  return { status: 'request', request: { idJson, id, method, params, target } };
}

function textOf(line: Buffer): string {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf
    ? line.toString('utf8', 3)
    : line.toString();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is Request['id'] {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** Undefined when the id is too long to be echoed. */
function encodeId(id: Request['id'], line: Buffer): string | undefined {
  if (typeof id === 'number' && !Number.isSafeInteger(id)) {
    const source = recoverId(line);
    return source === 'null' ? undefined : source;
  }
  const text = JSON.stringify(id);
  if (text.length * 3 <= MAX_ID_JSON_BYTES) return text;
  return Buffer.byteLength(text) <= MAX_ID_JSON_BYTES ? text : undefined;
}

/** Level by level, because recursion over hostile nesting would end the process. */
function isTooDeep(params: Record<string, unknown>, lineBytes: number): boolean {
  // Each level costs two bytes of the line, so most lines are too short to nest that deep.
  if (lineBytes < MAX_PARAMS_DEPTH * 2) return false;
  let level: object[] = [params];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_PARAMS_DEPTH) return true;
    const next: object[] = [];
    for (const node of level) {
      for (const value of Array.isArray(node) ? node : Object.values(node)) {
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
  return false;
}

function tooDeep(idJson: string): ParsedRequest {
  const message = `Expected at most ${MAX_PARAMS_DEPTH} levels of nesting`;
  const error = new BurrowError('invalid_params', { issues: [{ path: 'params', message }] });
  return { status: 'invalid', idJson, error };
}

function invalidMessage(idJson: string, path: string, message: string): ParsedRequest {
  const error = new BurrowError('invalid_message', { issues: [{ path, message }] });
  return { status: 'invalid', idJson, error };
}

function invalid(idJson: string, code: 'invalid_json', message?: string): ParsedRequest {
  return {
    status: 'invalid',
    idJson,
    error: new BurrowError(code, message === undefined ? {} : { message }),
  };
}
