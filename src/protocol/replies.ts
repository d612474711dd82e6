// The same frames read at the other end: one schema for each envelope (published under docs/schema) and the parser that a
// client uses. Unknown fields are kept and unknown types reported as such, so that a newer gateway can be talked to.

import * as v from 'valibot';
import { ProcessEvidenceSchema } from './evidence.ts';

const RequestIdSchema = v.nullable(v.union([v.string(), v.number(), v.boolean()]));
const SeqSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** The code is any string here: a newer gateway may know more of them. */
const WireErrorSchema = v.looseObject({
  code: v.string(),
  message: v.optional(v.string()),
  operationId: v.optional(v.string()),
  issues: v.optional(v.array(v.looseObject({ path: v.string(), message: v.string() }))),
  errno: v.optional(v.string()),
  retryable: v.optional(v.boolean()),
});

export const ResultReplySchema = v.looseObject({
  type: v.literal('response'),
  requestId: RequestIdSchema,
  ok: v.literal(true),
  result: v.looseObject({}),
});

export const FailureReplySchema = v.looseObject({
  type: v.literal('response'),
  requestId: RequestIdSchema,
  ok: v.literal(false),
  error: WireErrorSchema,
});

export const ErrorReplySchema = v.looseObject({
  type: v.literal('error'),
  requestId: RequestIdSchema,
  ok: v.literal(false),
  error: WireErrorSchema,
});

export const AcceptedReplySchema = v.looseObject({
  type: v.literal('accepted'),
  requestId: RequestIdSchema,
  ok: v.literal(true),
  operationId: v.string(),
  protocolVersion: v.string(),
});

export const StreamEventSchema = v.looseObject({
  type: v.literal('process.stream'),
  operationId: v.string(),
  stream: v.picklist(['stdout', 'stderr']),
  seq: SeqSchema,
  data: v.string(),
  truncated: v.boolean(),
});

export const TerminalEventSchema = v.looseObject({
  type: v.literal('process.terminal'),
  operationId: v.string(),
  seq: SeqSchema,
  evidence: ProcessEvidenceSchema,
});

export const TransportErrorSchema = v.looseObject({
  type: v.literal('transport.error'),
  ok: v.literal(false),
  error: WireErrorSchema,
});

type ResultReply = v.InferOutput<typeof ResultReplySchema>;
type FailureReply = v.InferOutput<typeof FailureReplySchema>;
type ErrorReply = v.InferOutput<typeof ErrorReplySchema>;
type AcceptedReply = v.InferOutput<typeof AcceptedReplySchema>;
export type StreamEvent = v.InferOutput<typeof StreamEventSchema>;
type TerminalEvent = v.InferOutput<typeof TerminalEventSchema>;
type TransportErrorReply = v.InferOutput<typeof TransportErrorSchema>;

export type Reply =
  | ResultReply
  | FailureReply
  | ErrorReply
  | AcceptedReply
  | StreamEvent
  | TerminalEvent
  | TransportErrorReply;

export type ParsedReply =
  | { status: 'reply'; reply: Reply }
  | { status: 'unknown'; type: string }
  | { status: 'invalid'; reason: string };

const SCHEMAS = new Map<string, v.GenericSchema<unknown, Reply>>([
  ['error', ErrorReplySchema],
  ['accepted', AcceptedReplySchema],
  ['process.terminal', TerminalEventSchema],
  ['transport.error', TransportErrorSchema],
]);

/** What a gateway said in `line`. `reason` is for a log and quotes nothing of the line. */
export function parseReply(line: Buffer | string): ParsedReply {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    return { status: 'invalid', reason: 'Line is not valid JSON' };
  }
  if (!isObject(value)) return { status: 'invalid', reason: 'Line is not an object' };
  const { type } = value;
  if (typeof type !== 'string') return { status: 'invalid', reason: 'Field "type" is not a string' };
  if (type === 'process.stream') return parseStreamEvent(value);
  const schema = type === 'response' ? responseSchema(value) : SCHEMAS.get(type);
  if (schema === undefined) return { status: 'unknown', type };
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return { status: 'reply', reply: parsed.output };
  const field = v.getDotPath(parsed.issues[0]) ?? 'type';
  return { status: 'invalid', reason: `Field "${field}" of ${type} is not valid` };
}

function responseSchema(value: Record<string, unknown>): v.GenericSchema<unknown, Reply> {
  return value.ok === true ? ResultReplySchema : FailureReplySchema;
}

/** By hand: there are many of these, they are large, and the checks of a schema would copy each of them. */
function parseStreamEvent(value: Record<string, unknown>): ParsedReply {
  const { operationId, stream, seq, data, truncated } = value;
  const isValid =
    typeof operationId === 'string' &&
    (stream === 'stdout' || stream === 'stderr') &&
    Number.isSafeInteger(seq) &&
    Number(seq) >= 1 &&
    typeof data === 'string' &&
    typeof truncated === 'boolean';
  if (!isValid) return { status: 'invalid', reason: 'A field of process.stream is not valid' };
  // Every field was checked above; the compiler does not carry that over to the object.
  return { status: 'reply', reply: value as StreamEvent };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
