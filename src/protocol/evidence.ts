// What happened to one process, as data: the terminal event's evidence, the journalled outcome and the response's outcome
// are this one object.

import * as v from 'valibot';

const CountSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Sha256Schema = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** Unknown fields are kept: a newer gateway may tell more. */
export const ProcessEvidenceSchema = v.looseObject({
  type: v.literal('process.result'),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  endedAt: v.pipe(v.string(), v.isoTimestamp()),
  durationMs: v.pipe(v.number(), v.minValue(0)),
  cwd: v.string(),
  effectiveUid: v.nullable(CountSchema),
  effectiveGid: v.nullable(CountSchema),
  hostname: v.string(),
  mode: v.picklist(['exec', 'shell']),
  executable: v.nullable(v.string()),
  args: v.array(v.string()),
  command: v.nullable(v.string()),
  exitCode: v.nullable(CountSchema),
  signal: v.nullable(v.string()),
  cancelled: v.boolean(),
  killed: v.boolean(),
  truncated: v.boolean(),
  timedOut: v.boolean(),
  timeoutReason: v.nullable(v.picklist(['timeoutMs', 'deadlineMs'])),
  timeoutMs: CountSchema,
  deadlineMs: v.nullable(v.number()),
  stdout: v.string(),
  stderr: v.string(),
  stdoutDigest: Sha256Schema,
  stderrDigest: Sha256Schema,
  stdoutBytes: v.optional(CountSchema),
  stderrBytes: v.optional(CountSchema),
  invalidUtf8: v.optional(v.literal(true)),
  lingering: v.optional(v.literal(true)),
  transportTruncated: v.optional(v.literal(true)),
});

export interface ProcessEvidence {
  type: 'process.result';
  /** ISO 8601, wall clock. */
  startedAt: string;
  endedAt: string;
  /** Monotonic clock: a stepped wall clock does not change it. */
  durationMs: number;
  cwd: string;
  effectiveUid: number | null;
  effectiveGid: number | null;
  hostname: string;
  mode: 'exec' | 'shell';
  executable: string | null;
  args: string[];
  command: string | null;
  exitCode: number | null;
  signal: string | null;
  cancelled: boolean;
  /** A signal was delivered by the gateway. */
  killed: boolean;
  truncated: boolean;
  timedOut: boolean;
  timeoutReason: 'timeoutMs' | 'deadlineMs' | null;
  timeoutMs: number;
  deadlineMs: number | null;
  stdout: string;
  stderr: string;
  /** sha256 hex of the delivered text. */
  stdoutDigest: string;
  stderrDigest: string;
  /** All bytes that were read, delivered or not. */
  stdoutBytes?: number;
  stderrBytes?: number;
  /** The output held bytes that are not UTF-8; each run of them reads U+FFFD. */
  invalidUtf8?: true;
  /** Something in the background still held the pipes when the operation was settled. */
  lingering?: true;
  /** The output was shortened to fit a frame. */
  transportTruncated?: true;
}

/** The evidence as JSON text; its fields in the order they were set. */
export function encodeEvidence(evidence: ProcessEvidence): string {
  return JSON.stringify(evidence);
}
