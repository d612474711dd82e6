// Writes the documents that are made from tables: docs/errors.md from the error table, docs/schema from the valibot schemas.
// `--check` writes nothing and exits 1 when a file is missing, stale or left over.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import * as auth from '../src/protocol/auth.ts';
import { ERRORS, type ErrorArea } from '../src/protocol/errors.ts';
import { ProcessEvidenceSchema } from '../src/protocol/evidence.ts';
import { ExecParamsSchema } from '../src/protocol/exec-params.ts';
import { FilesystemOutcomeSchema } from '../src/protocol/file-outcome.ts';
import { FilesystemParamsSchema } from '../src/protocol/filesystem-params.ts';
import * as replies from '../src/protocol/replies.ts';
import { RequestSchema } from '../src/protocol/request.ts';
import * as results from '../src/protocol/results.ts';
import { CancelParamsSchema, IgnoredParamsSchema } from '../src/protocol/simple-params.ts';
import { TelemetryParamsSchema } from '../src/protocol/telemetry-params.ts';

const ROOT = join(import.meta.dirname, '..');
const SCHEMA_DIRECTORY = 'docs/schema';

/** Every published schema by the name of its file. */
export const SCHEMAS: Readonly<Record<string, GenericSchema>> = {
  request: RequestSchema,
  'hello.params': IgnoredParamsSchema,
  'hello.result': results.HelloResultSchema,
  'health.params': IgnoredParamsSchema,
  'health.result': results.HealthResultSchema,
  'telemetry.configure.params': TelemetryParamsSchema,
  'telemetry.configure.result': results.TelemetryResultSchema,
  'process.exec.params': ExecParamsSchema,
  'process.exec.result': results.ExecResultSchema,
  'filesystem.execute.params': FilesystemParamsSchema,
  'filesystem.execute.result': results.FilesystemResultSchema,
  'cancel.params': CancelParamsSchema,
  'cancel.result': results.CancelResultSchema,
  'shutdown.params': IgnoredParamsSchema,
  'shutdown.result': results.ShutdownResultSchema,
  'response.ok': replies.ResultReplySchema,
  'response.failed': replies.FailureReplySchema,
  error: replies.ErrorReplySchema,
  accepted: replies.AcceptedReplySchema,
  'process.stream': replies.StreamEventSchema,
  'process.terminal': replies.TerminalEventSchema,
  'transport.error': replies.TransportErrorSchema,
  'auth.challenge': auth.AuthChallengeSchema,
  'auth.response': auth.AuthResponseSchema,
  'pairing.pending': auth.PairingPendingSchema,
  'auth.ok': auth.AuthOkSchema,
  evidence: ProcessEvidenceSchema,
  'filesystem.outcome': FilesystemOutcomeSchema,
};

const AREAS: Readonly<Record<ErrorArea, string>> = {
  envelope: 'Envelope: the line itself is wrong, answered with `type:"error"`',
  request: 'Request: refused before anything starts',
  operation: 'Operation: about one operation and its id',
  transport: 'Transport: authentication and pairing',
  controller: 'Controller: the target host cannot be reached',
  filesystem: 'Filesystem: the code of a failed tool, inside its outcome',
  local: 'Local: faults of burrow itself',
};

const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  // Rules that JSON Schema has no word for: they stand in docs/protocol.md.
  ignoreActions: ['check', 'raw_check', 'finite'],
  // A pattern of JSON Schema is read as with the flag u, and has none.
  overrideAction: ({ valibotAction: action, jsonSchema }) =>
    action.type === 'regex' && 'requirement' in action && action.requirement instanceof RegExp
      ? { ...jsonSchema, pattern: action.requirement.source }
      : undefined,
  // Its form is given by the metadata beside it.
  overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? {} : undefined),
};

/** The text of every generated document by its path in the repository. */
export function renderDocs(): Map<string, string> {
  const documents = new Map([['docs/errors.md', renderErrors()]]);
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    const { $schema, ...body } = toJsonSchema(schema, CONVERSION);
    const text = JSON.stringify({ $schema, title: name, ...body }, null, 2);
    documents.set(`${SCHEMA_DIRECTORY}/${name}.json`, `${text}\n`);
  }
  return documents;
}

function renderErrors(): string {
  const lines = ['# Error codes', ''];
  lines.push('Written by `npm run docs` from `src/protocol/errors.ts`; edit that table, not this page.', '');
  lines.push(
    'Every error carries its `code`, a sentence in `message`, and nothing secret. Compare codes, never sentences.',
  );
  lines.push(
    'Retry *yes*: the same request can succeed later unchanged, and the error says `retryable: true`.',
  );
  lines.push(
    'Exit: the status of a `burrow` command that ends with this code. `burrow fs` exits 1 for a tool that failed, whatever the',
    'code, but for `invalid_params`; `burrow client exec|fs` print what is answered and exit 125 for every refusal.',
    '`spawn_failed` exits 127 when there is no such program.',
    '',
  );
  for (const [area, title] of Object.entries(AREAS)) {
    lines.push(`## ${title}`, '', '| code | meaning | retry | exit | what to do |', '|---|---|---|---|---|');
    for (const [code, row] of Object.entries(ERRORS)) {
      if (row.area !== area) continue;
      const retry = row.retryable ? 'yes' : 'no';
      lines.push(
        `| \`${code}\` | ${cell(row.meaning)} | ${retry} | ${row.exitStatus} | ${cell(row.remedy)} |`,
      );
    }
    lines.push('');
  }
  return lines.join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Paths of generated documents that are missing, differ, or should not be there. */
export function staleDocs(documents = renderDocs()): string[] {
  const stale = [...documents].filter(([path, text]) => readText(path) !== text).map(([path]) => path);
  return [...stale, ...leftovers(documents)];
}

function leftovers(documents: Map<string, string>): string[] {
  mkdirSync(join(ROOT, SCHEMA_DIRECTORY), { recursive: true });
  const present = readdirSync(join(ROOT, SCHEMA_DIRECTORY)).map((name) => `${SCHEMA_DIRECTORY}/${name}`);
  return present.filter((path) => !documents.has(path));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    // Not written yet.
    return undefined;
  }
}

function writeDocs(): void {
  const documents = renderDocs();
  for (const path of leftovers(documents)) rmSync(join(ROOT, path));
  for (const [path, text] of documents) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
}

function check(): void {
  const stale = staleDocs();
  for (const path of stale) console.error(`Stale document: ${path}. Run npm run docs`);
  if (stale.length > 0) process.exitCode = 1;
}

if (import.meta.main) {
  if (process.argv.includes('--check')) check();
  else writeDocs();
}
