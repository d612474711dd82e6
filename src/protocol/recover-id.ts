// Reads the request id out of text that JSON.parse cannot be asked about: a broken or cut-off line, or a number whose
// exact digits matter. Knows just enough of JSON (strings, escapes, nesting) never to take an id from somewhere else.

import { isUtf8 } from 'node:buffer';
import { MAX_ID_JSON_BYTES } from './defaults.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * The id of a request as JSON text to echo, from a line that may be broken or cut off; `null` when none can be read.
 * Of several top-level ids the last complete one counts, as in JSON.parse. Ids longer than 64 KiB count as unreadable.
 */
export function recoverId(head: Buffer): string {
  let id = 'null';
  let at = skipBlanks(head, head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0);
  if (head[at] !== OPEN_BRACE) return id;
  do {
    const keyStart = skipBlanks(head, at + 1);
    const keyEnd = head[keyStart] === QUOTE ? endOfString(head, keyStart) : -1;
    if (keyEnd === -1) return id;
    const colon = skipBlanks(head, keyEnd);
    if (head[colon] !== COLON) return id;
    const valueStart = skipBlanks(head, colon + 1);
    const valueEnd = endOfValue(head, valueStart);
    const isId = parseScalar(head.subarray(keyStart, keyEnd)) === 'id';
    if (valueEnd === -1) return isId ? 'null' : id;
    if (isId) id = scalarText(head.subarray(valueStart, valueEnd));
    at = skipBlanks(head, valueEnd);
  } while (head[at] === COMMA);
  return id;
}

function skipBlanks(text: Buffer, start: number): number {
  let at = start;
  while (isBlank(text[at])) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;
}

/** Just past the closing quote, or -1 when the text ends first. */
function endOfString(text: Buffer, start: number): number {
  for (let quote = text.indexOf(QUOTE, start + 1); quote !== -1; quote = text.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (text[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** Just past the value, or -1 when the text ends before the value surely does (`12` may go on as `123`). */
function endOfValue(text: Buffer, start: number): number {
  if (text[start] === QUOTE) return endOfString(text, start);
  if (text[start] === OPEN_BRACE || text[start] === OPEN_BRACKET) return endOfContainer(text, start);
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isBlank(byte)) return at;
  }
  return -1;
}

function endOfContainer(text: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const byte = text[at];
    if (byte === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return -1;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
  return -1;
}

function scalarText(source: Buffer): string {
  if (source.length > MAX_ID_JSON_BYTES) return 'null';
  const value = parseScalar(source);
  // Digits are kept as written: 9007199254740993 has no exact value here, and 1e400 none at all.
  if (typeof value === 'number') return source.toString('latin1');
  return typeof value === 'string' || typeof value === 'boolean' ? JSON.stringify(value) : 'null';
}

function parseScalar(source: Buffer): unknown {
  if (source.length > MAX_ID_JSON_BYTES || !isUtf8(source)) return undefined;
  const text = source.toString();
  if (text[0] !== '"') return NUMBER.test(text) ? Number(text) : { true: true, false: false }[text];
  try {
    return JSON.parse(text);
  } catch {
    // A string with a raw control character or a bad escape: it names nothing.
    return undefined;
  }
}
