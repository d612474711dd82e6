// What stands in `.octonode` (octonode.md section 4). Whatever a person may misspell is refused by name, so that a typing
// mistake never changes in silence what is run; what the code owns (signatures) and what is only shown may hold more.

import * as v from 'valibot';

export const API_VERSION = 'octonode.dev/v1';

const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000;
const MAX_RETRIES = 100;
const MAX_BACKOFF_MS = 60 * 60 * 1_000;
const MAX_NODE_CONCURRENCY = 1_000;
const MAX_ID_CHARACTERS = 200;

const Id = v.pipe(
  v.string(),
  v.nonEmpty('An id may not be empty'),
  v.maxLength(MAX_ID_CHARACTERS, `An id has at most ${MAX_ID_CHARACTERS} characters`),
  v.regex(/^[^\p{Cc}]*$/u, 'An id may not hold control characters'),
);
const integer = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
/** `["python3", "nodes/greet.py"]`, or the same as one string with blanks between. */
const CommandSchema = v.union(
  [v.pipe(v.string(), v.nonEmpty()), v.pipe(v.array(v.string()), v.nonEmpty())],
  'Expected a command: a string, or a list of strings',
);

const SourceSchema = v.union(
  [
    v.pipe(v.string(), v.nonEmpty()),
    v.pipe(v.array(v.string()), v.nonEmpty()),
    v.strictObject({ command: CommandSchema, cwd: v.optional(v.string()) }),
  ],
  'Expected a source: a command, a glob, or {command, cwd}',
);

const SecretsSchema = v.union(
  [v.array(v.string()), v.record(v.string(), v.string())],
  'Expected names of environment variables: a list, or {NAME: VARIABLE}',
);

const EnvironmentSchema = v.strictObject({
  description: v.optional(v.string()),
  inherits: v.optional(v.union([v.string(), v.array(v.string())], 'Expected a name, or a list of names')),
  vars: v.optional(v.record(v.string(), v.unknown())),
  secrets: v.optional(SecretsSchema),
});

const SignatureSchema = v.looseObject({
  language: v.optional(v.string()),
  command: v.optional(CommandSchema),
  cwd: v.optional(v.string()),
  inputs: v.optional(v.unknown()),
  outputs: v.optional(v.unknown()),
  defaults: v.optional(v.looseObject({})),
  service: v.optional(v.looseObject({ methods: v.optional(v.array(v.looseObject({ name: v.string() }))) })),
  checksum: v.optional(v.string()),
  orphaned: v.optional(v.boolean()),
});

const RuntimeSchema = v.strictObject({
  mode: v.optional(v.picklist(['one-shot', 'worker'], 'Expected "one-shot" or "worker"')),
  timeout_ms: v.optional(integer(1, MAX_TIMEOUT_MS)),
  retries: v.optional(integer(0, MAX_RETRIES)),
  retry_backoff_ms: v.optional(integer(0, MAX_BACKOFF_MS)),
  concurrency: v.optional(integer(1, MAX_NODE_CONCURRENCY)),
});

const NodeEntrySchema = v.strictObject({
  id: Id,
  label: v.optional(v.string()),
  description: v.optional(v.string()),
  signature: v.nullish(SignatureSchema),
  runtime: v.nullish(RuntimeSchema),
  presentation: v.nullish(v.looseObject({})),
  disabled: v.optional(v.boolean()),
});

const StepSchema = v.union(
  [Id, v.strictObject({ id: Id, node: v.optional(Id), runtime: v.nullish(RuntimeSchema) })],
  'Expected the id of a node, or {id, node}',
);

const EdgeSchema = v.strictObject({
  from: v.strictObject({ node: v.string(), output: v.optional(v.string()) }),
  to: v.strictObject({ node: v.string(), input: v.optional(v.string()) }),
  kind: v.optional(
    v.picklist(['data', 'control', 'dependency'], 'Expected "data", "control" or "dependency"'),
  ),
});

const WorkflowSchema = v.strictObject({
  id: Id,
  label: v.optional(v.string()),
  description: v.optional(v.string()),
  entry: v.optional(v.union([v.string(), v.array(v.string())], 'Expected an id, or a list of ids')),
  nodes: v.array(StepSchema),
  edges: v.nullish(v.array(EdgeSchema)),
  on_error: v.nullish(
    v.strictObject({ policy: v.optional(v.picklist(['halt', 'continue'], 'Expected "halt" or "continue"')) }),
  ),
  bindings: v.nullish(v.record(v.string(), v.record(v.string(), v.unknown()))),
});

export const ProjectSchema = v.strictObject({
  apiVersion: v.literal(API_VERSION, `Expected "${API_VERSION}"`),
  metadata: v.nullish(
    v.looseObject({
      name: v.optional(v.string()),
      version: v.optional(v.union([v.string(), v.number()], 'Expected a text or a number')),
      description: v.optional(v.string()),
    }),
  ),
  sources: v.nullish(v.array(SourceSchema)),
  environments: v.nullish(v.record(v.string(), v.nullish(EnvironmentSchema))),
  nodes: v.nullish(v.array(NodeEntrySchema)),
  types: v.nullish(v.unknown()),
  workflows: v.nullish(v.array(WorkflowSchema)),
});

export type ProjectContent = v.InferOutput<typeof ProjectSchema>;
export type ProjectSource = v.InferOutput<typeof SourceSchema>;
export type ProjectEnvironment = v.InferOutput<typeof EnvironmentSchema>;
export type NodeEntry = v.InferOutput<typeof NodeEntrySchema>;
export type NodeSignature = v.InferOutput<typeof SignatureSchema>;
export type NodeRuntime = v.InferOutput<typeof RuntimeSchema>;
export type Workflow = v.InferOutput<typeof WorkflowSchema>;
export type WorkflowEdge = v.InferOutput<typeof EdgeSchema>;

/** Whether a project can hold a node of this id: 1 to 200 characters, none of them a control character. */
export function isNodeId(id: string): boolean {
  return v.is(Id, id);
}
