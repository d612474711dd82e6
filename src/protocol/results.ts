// What each method answers: `result` of its successful response. Unknown fields are allowed everywhere.

import * as v from 'valibot';
import { GATEWAY_NAME } from './defaults.ts';
import { ProcessEvidenceSchema } from './evidence.ts';
import { FilesystemOutcomeSchema } from './file-outcome.ts';

export const HelloResultSchema = v.looseObject({
  name: v.literal(GATEWAY_NAME),
  version: v.string(),
  protocolVersion: v.string(),
  transport: v.picklist(['stdio-jsonl', 'tls-jsonl-outbound', 'unix-jsonl']),
});

export const TelemetryResultSchema = v.looseObject({
  enabled: v.boolean(),
  endpoint: v.nullable(v.string()),
  headersConfigured: v.boolean(),
  source: v.picklist(['controller', 'environment']),
});

const HealthTelemetrySchema = v.looseObject({
  ...TelemetryResultSchema.entries,
  collector: v.picklist(['unknown', 'ok', 'failing']),
  queuedSpans: v.number(),
  exportedSpans: v.number(),
  droppedSpans: v.number(),
});

export const HealthResultSchema = v.looseObject({
  status: v.picklist(['ok', 'degraded', 'stopping']),
  activeOperations: v.array(v.string()),
  uptimeMs: v.optional(v.pipe(v.number(), v.minValue(0))),
  telemetry: v.optional(HealthTelemetrySchema),
});

export const ExecResultSchema = v.looseObject({
  operationId: v.string(),
  replay: v.boolean(),
  outcome: ProcessEvidenceSchema,
  journaled: v.optional(v.literal(false)),
});

export const FilesystemResultSchema = v.looseObject({
  operationId: v.string(),
  replay: v.boolean(),
  outcome: FilesystemOutcomeSchema,
  journaled: v.optional(v.literal(false)),
});

export const CancelResultSchema = v.looseObject({
  operationId: v.string(),
  cancelling: v.boolean(),
});

export const ShutdownResultSchema = v.looseObject({
  stopping: v.literal(true),
  activeOperations: v.array(v.string()),
});
