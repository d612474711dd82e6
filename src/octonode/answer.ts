// What a node wrote on stdout, as its one envelope, or as a sentence about what is wrong with it and an excerpt.
// Rules: UTF-8 without a byte order mark; blanks, a newline or CR LF around the envelope are no text; numbers become
// IEEE doubles (a 20-digit integer is rounded to the nearest one); an escaped lone surrogate stays what it is.

import { isUtf8 } from 'node:buffer';
import { type AnswerEnvelope, parseAnswer } from './envelopes.ts';
import type { Asked } from './failures.ts';
import { MAX_EXCERPT_CHARACTERS, OCTONODE_VERSION } from './limits.ts';

export type Answer =
  | { status: 'ok'; envelope: AnswerEnvelope }
  | { status: 'empty' }
  /** `problem` completes the sentence `Node "x" …`; `excerpt` is the text in question. */
  | { status: 'bad'; problem: string; excerpt: string };

interface BadAnswer {
  status: 'bad';
  problem: string;
  excerpt: string;
}

/** Reads the whole output of a one-shot process. */
export function readAnswer(bytes: Buffer, asked: Asked): Answer {
  const text = decode(bytes);
  if (typeof text !== 'string') return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // V8 also refuses nesting that it cannot hold, which is not JSON for us either.
    return text.trim() === '' ? { status: 'empty' } : diagnoseText(text);
  }
  return checkAnswer(value, text, asked);
}

/** Whether `bytes` is a whole JSON value: the answer came, whatever it is worth. */
export function isComplete(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Matches a parsed line with the request it should answer. An ordinary ok result costs four comparisons. */
export function checkAnswer(value: unknown, text: string, asked: Asked): Answer {
  if (typeof value !== 'object' || value === null) return bad('answered with JSON that is no envelope', text);
  const envelope = value as Record<string, unknown>;
  if (!Object.hasOwn(envelope, 'octonode')) return bad('answered with JSON that is no envelope', text);
  if (envelope.invocationId !== asked.invocationId) {
    return bad(`answered with the wrong invocationId ${quoteId(envelope.invocationId)}`, text);
  }
  const isPlainOk =
    asked.type === 'invoke' &&
    envelope.type === 'result' &&
    envelope.status === 'ok' &&
    envelope.octonode === OCTONODE_VERSION &&
    envelope.outputs !== undefined;
  // Checked above, field by field, as the schema of an ok result demands.
  if (isPlainOk) return { status: 'ok', envelope: value as AnswerEnvelope };
  const expected = asked.type === 'invoke' ? 'result' : 'manifest';
  if (typeof envelope.type === 'string' && envelope.type !== expected) {
    return bad(`answered "${envelope.type.slice(0, 40)}" where "${expected}" was asked for`, text);
  }
  const parsed = parseAnswer(value, asked.type);
  if (parsed.status === 'ok') return { status: 'ok', envelope: parsed.value };
  return bad(`answered with an envelope that is not valid, ${parsed.reason}`, text);
}

/** A line of a worker that is not UTF-8. */
export function brokenLine(line: Buffer): BadAnswer {
  return bad('answered with bytes that are not UTF-8', printable(line));
}

/** Why a text that JSON refuses is no answer. */
export function diagnoseText(text: string): BadAnswer {
  if (text.startsWith('\ufeff')) return bad('put a byte order mark (BOM) before its answer', text);
  const lines = text
    .split('\n', 64)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first = ''] = lines;
  const envelopeIndex = lines.findIndex(isEnvelopeText);
  if (envelopeIndex > 0) return bad('wrote text before its answer', lines.slice(0, envelopeIndex).join('\n'));
  if (envelopeIndex === 0) {
    const rest = text.slice(text.indexOf(first) + first.length).trim();
    if (lines.slice(1).some(isEnvelopeText)) return bad('answered more than once', rest);
    return bad('wrote text after its answer', rest);
  }
  const constant = /(?<![\w"])(?:NaN|-?Infinity)(?![\w"])/.exec(text.slice(0, 1_000_000));
  if (constant !== null && /^\s*[[{]/.test(text)) {
    return bad(
      `answered with ${constant[0]}, which JSON does not have`,
      text.slice(Math.max(0, constant.index - 100)),
    );
  }
  const glued = /^[^{]{1,1000}(?=\{\s*"octonode")/.exec(text);
  if (glued !== null) return bad('wrote text before its answer', glued[0]);
  return bad('wrote something that is not JSON', text);
}

function decode(bytes: Buffer): string | Answer {
  if (bytes.length === 0) return { status: 'empty' };
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16 || (bytes.length > 1 && (first === 0 || second === 0))) {
    return bad('answered in UTF-16; answers are UTF-8', printable(bytes));
  }
  if (first === 0xef && second === 0xbb && bytes[2] === 0xbf) {
    return bad('put a byte order mark (BOM) before its answer', printable(bytes));
  }
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd') && !isUtf8(bytes))
    return bad('answered with bytes that are not UTF-8', printable(bytes));
  return text;
}

function isEnvelopeText(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'octonode' in value;
  } catch {
    return false;
  }
}

function bad(problem: string, text: string): BadAnswer {
  return { status: 'bad', problem, excerpt: text.slice(0, MAX_EXCERPT_CHARACTERS) };
}

function printable(bytes: Buffer): string {
  return bytes.toString('latin1', 0, MAX_EXCERPT_CHARACTERS);
}

function quoteId(id: unknown): string {
  return typeof id === 'string'
    ? JSON.stringify(id.slice(0, 80))
    : `of type ${id === null ? 'null' : typeof id}`;
}
