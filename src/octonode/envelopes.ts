// What goes between the engine and a node: one JSON envelope each way (octonode-ipc-protocol, version 1).
// Unknown fields are kept. Whatever does not fit is told as one sentence that names the field, never thrown.

import * as v from 'valibot';
import { issueWords } from '../support/issue-words.ts';
import { OCTONODE_VERSION } from './limits.ts';

const NODE_ERROR_CODES = ['VALIDATION_ERROR', 'RUNTIME_ERROR', 'TIMEOUT', 'NON_RETRYABLE'] as const;
const SERVICE_LIFECYCLES = ['invocation', 'workflow-run', 'worker'] as const;
const NODE_KINDS = ['function', 'class', 'service', 'const'] as const;

const JsonSchemaSchema = v.union(
  [v.boolean(), v.looseObject({})],
  'Expected a JSON Schema (an object or a boolean)',
);
const IdSchema = v.pipe(v.string(), v.nonEmpty());

const NodeErrorSchema = v.looseObject({
  code: v.picklist(NODE_ERROR_CODES),
  message: v.string(),
  retryable: v.optional(v.boolean(), false),
  details: v.optional(v.unknown()),
  stack: v.optional(v.string()),
});

const ServiceSchema = v.looseObject({
  lifecycle: v.picklist(SERVICE_LIFECYCLES),
  methods: v.array(
    v.looseObject({
      name: IdSchema,
      params: v.optional(v.array(v.unknown())),
      inputs: v.optional(JsonSchemaSchema),
      outputs: v.optional(JsonSchemaSchema),
    }),
  ),
});

const ManifestSchema = v.looseObject({
  id: IdSchema,
  language: IdSchema,
  label: v.optional(v.string()),
  description: v.optional(v.string()),
  symbol: v.optional(v.pipe(v.string(), v.maxLength(16))),
  defaults: v.optional(v.looseObject({})),
  workflowId: v.optional(v.string()),
  inputs: v.optional(JsonSchemaSchema),
  outputs: v.optional(JsonSchemaSchema),
  kind: v.optional(v.picklist(NODE_KINDS)),
  setup: v.optional(v.unknown()),
  icon: v.optional(v.string()),
  config: v.optional(v.unknown()),
  service: v.optional(ServiceSchema),
});

// Fields stand in the order in which they are written.
const octonode = v.literal(OCTONODE_VERSION);
const invocationId = IdSchema;
const ok = v.literal('ok');
const failed = { invocationId, status: v.literal('error'), error: NodeErrorSchema };
const result = { octonode, type: v.literal('result') };
const manifest = { octonode, type: v.literal('manifest') };

const ResultSchema = v.variant('status', [
  v.looseObject({ ...result, invocationId, status: ok, outputs: v.unknown() }),
  v.looseObject({ ...result, ...failed }),
]);
const ManifestAnswerSchema = v.variant('status', [
  v.looseObject({ ...manifest, invocationId, status: ok, manifest: ManifestSchema }),
  v.looseObject({ ...manifest, ...failed }),
]);

const ContextSchema = v.looseObject({
  runId: v.optional(v.string()),
  env: v.optional(v.string()),
  config: v.optional(v.unknown(), {}),
  attempt: v.optional(v.number(), 1),
  deadlineMs: v.optional(v.number()),
});
const RequestSchema = v.variant('type', [
  v.looseObject({
    octonode,
    type: v.literal('invoke'),
    invocationId,
    node: v.optional(v.string()),
    inputs: v.unknown(),
    context: v.optional(ContextSchema, {}),
  }),
  v.looseObject({ octonode, type: v.literal('describe'), invocationId, node: v.optional(v.string()) }),
]);

export type NodeErrorCode = (typeof NODE_ERROR_CODES)[number];
export type NodeFailure = v.InferOutput<typeof NodeErrorSchema>;
export type NodeManifest = v.InferOutput<typeof ManifestSchema>;
export type NodeContext = v.InferInput<typeof ContextSchema>;
export type ResultEnvelope = v.InferOutput<typeof ResultSchema>;
export type ManifestEnvelope = v.InferOutput<typeof ManifestAnswerSchema>;
export type AnswerEnvelope = ResultEnvelope | ManifestEnvelope;
export type NodeRequest = v.InferOutput<typeof RequestSchema>;
export type RequestType = NodeRequest['type'];

type Parsed<T> = { status: 'ok'; value: T } | { status: 'invalid'; reason: string };

/** The answer as a typed envelope: `result` for an invoke, `manifest` for a describe. */
export function parseAnswer(value: unknown, type: RequestType): Parsed<AnswerEnvelope> {
  return type === 'invoke' ? parse(ResultSchema, value) : parse(ManifestAnswerSchema, value);
}

export function parseRequest(value: unknown): Parsed<NodeRequest> {
  return parse(RequestSchema, value);
}

export function parseManifest(value: unknown): Parsed<NodeManifest> {
  return parse(ManifestSchema, value);
}

function parse<T extends v.GenericSchema>(schema: T, value: unknown): Parsed<v.InferOutput<T>> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return { status: 'ok', value: result.output };
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  const words = issueWords(issue);
  return { status: 'invalid', reason: path === null ? words : `field "${path}": ${words}` };
}
