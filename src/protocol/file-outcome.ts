// What happened to one filesystem tool, as data: its shape, the seal at its end, and how it is made to fit a frame.
// The content of a file read is shortened; anything else that is too long becomes an outcome that says so.

import * as v from 'valibot';
import { clipUtf8 } from '../support/utf8.ts';
import { sha256Hex } from './digest.ts';
import { ERRORS } from './errors.ts';
import { isFileRead } from './file-read.ts';
import { refitOutcomeJson } from './frame.ts';

const FINGERPRINT_CHARACTERS = 16;
const PATH_FIELDS = ['filePath', 'path', 'dirPath'] as const;
/** Kept of a tool name or a path that is itself what does not fit. */
const MAX_CLIPPED_BYTES = 256;

/** Unknown fields are kept: each tool adds its own. */
export const FilesystemOutcomeSchema = v.looseObject({
  tool: v.string(),
  ok: v.boolean(),
  error: v.nullable(v.string()),
  warnings: v.array(v.string()),
  artifacts: v.null(),
  durationMs: v.pipe(v.number(), v.minValue(0)),
  resultFingerprint: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))),
  execution: v.looseObject({
    kind: v.literal('gateway'),
    protocolMethod: v.literal('filesystem.execute'),
  }),
  diagnostic: v.optional(v.looseObject({ code: v.string(), message: v.string() })),
  incomplete: v.optional(v.boolean()),
  transportTruncated: v.optional(v.literal(true)),
});

// Not an interface: only an alias fits the index signature of an outcome.
type FileOutcomeSeal = {
  /** First 16 hex of sha256 over the JSON text of all fields that stand before it. */
  resultFingerprint: string;
  execution: { kind: 'gateway'; protocolMethod: 'filesystem.execute' };
};

/** A field of `body` that has its JSON text already: a long one need not be serialised again. */
export interface EncodedField {
  name: string;
  json: string;
}

/**
 * The outcome with its fingerprint and origin behind `body`, and the same as JSON text. A field in `encoded` must be one of
 * `body`; its text is taken as it is.
 */
export function sealFileOutcome<Body extends object>(
  body: Body,
  encoded?: EncodedField,
): { outcome: Body & FileOutcomeSeal; json: string } {
  const text = encoded === undefined ? JSON.stringify(body) : stringifyAround(body, encoded);
  const seal: FileOutcomeSeal = {
    resultFingerprint: sha256Hex(text).slice(0, FINGERPRINT_CHARACTERS),
    execution: { kind: 'gateway', protocolMethod: 'filesystem.execute' },
  };
  return { outcome: { ...body, ...seal }, json: `${text.slice(0, -1)},${JSON.stringify(seal).slice(1)}` };
}

/** JSON.stringify(body), with `encoded` in its place among the other fields. */
function stringifyAround(body: object, { name, json }: EncodedField): string {
  const entries = Object.entries(body);
  const at = entries.findIndex(([field]) => field === name);
  const membersOf = (some: [string, unknown][]): string =>
    JSON.stringify(Object.fromEntries(some)).slice(1, -1);
  const members = [
    membersOf(entries.slice(0, at)),
    `${JSON.stringify(name)}:${json}`,
    membersOf(entries.slice(at + 1)),
  ];
  return `{${members.filter((text) => text !== '').join(',')}}`;
}

/**
 * The outcome as JSON of at most `maxBytes`: as it is, with less content (file reads), or replaced by the failure
 * `output_frame_too_large` of the same tool and path. A room too small even for that is not foreseen: it needs 2 KiB.
 */
export function fitFileOutcomeJson(outcomeJson: string, maxBytes: number): string {
  const fitted = refitOutcomeJson(outcomeJson, maxBytes);
  if (fitted.status === 'fits') return fitted.json;
  // An outcome is an object: it was made by sealFileOutcome.
  const outcome = JSON.parse(outcomeJson) as Record<string, unknown>;
  const whole = refusal(outcome, Number.MAX_SAFE_INTEGER);
  return Buffer.byteLength(whole) <= maxBytes ? whole : refusal(outcome, MAX_CLIPPED_BYTES);
}

function refusal(outcome: Record<string, unknown>, maxTextBytes: number): string {
  const pathField = PATH_FIELDS.find((name) => Object.hasOwn(outcome, name));
  const clipped = (value: unknown): unknown =>
    typeof value === 'string' && value.length > maxTextBytes ? clipUtf8(value, maxTextBytes) : value;
  const remedy = isFileRead(outcome) ? 'ask for fewer bytes' : 'ask for fewer entries or for a smaller part';
  return sealFileOutcome({
    tool: clipped(outcome['tool']),
    ok: false,
    ...(pathField === undefined ? {} : { [pathField]: clipped(outcome[pathField]) }),
    error: 'output_frame_too_large',
    diagnostic: {
      code: 'output_frame_too_large',
      message: `${ERRORS.output_frame_too_large.message}: ${remedy}`,
    },
    warnings: [],
    artifacts: null,
    durationMs: outcome['durationMs'],
  }).json;
}
