// The parameters of process.exec: everything is checked before anything is started. Absent and null mean the default;
// fields that are not named here are accepted, ignored, and part of the request digest.

import * as v from 'valibot';
import { DEFAULT_MAX_OUTPUT_BYTES, DEFAULT_TIMEOUT_MS } from './defaults.ts';
import { BurrowError, type ErrorCode } from './errors.ts';
import { checkMembers, paramsError } from './issues.ts';
import { OperationIdSchema, SystemTextSchema, systemTextProblem } from './params-text.ts';
import { type TraceContext, TraceContextSchema, toTraceContext } from './trace-context.ts';

export interface ExecParams {
  /** Null: derived from the request digest. */
  operationId: string | null;
  mode: 'exec' | 'shell';
  /** Mode exec only, else null. */
  executable: string | null;
  args: string[];
  /** Mode shell only, else null. */
  command: string | null;
  /** Null: the daemon's own. */
  cwd: string | null;
  env: [name: string, value: string][];
  timeoutMs: number;
  /** Wall clock of the host, milliseconds since the epoch. */
  deadlineMs: number | null;
  maxOutputBytes: number;
  /** As received; checked by whoever knows the connection. Undefined when absent. */
  protectedValues: unknown;
  protectedDelivery: unknown;
  traceContext: TraceContext | null;
}

export type ParsedExecParams =
  | { status: 'ok'; value: ExecParams }
  | { status: 'invalid'; error: BurrowError };

const PositiveIntegerSchema = v.pipe(
  v.number('Expected a positive safe integer'),
  v.safeInteger('Expected a positive safe integer'),
  v.minValue(1, 'Expected a positive safe integer'),
);

const ArgsSchema = v.pipe(
  v.custom<string[]>(Array.isArray, 'Expected an array of strings'),
  v.rawCheck((context) => {
    if (context.dataset.typed) checkMembers(context, context.dataset.value.entries(), systemTextProblem);
  }),
  v.metadata({ type: 'array', items: { type: 'string' } }),
);

// Not v.record(), which drops names such as `constructor` without a word.
const EnvSchema = v.pipe(
  v.custom<Record<string, unknown>>(isPlainObject, 'Expected an object of names to values'),
  v.rawCheck((context) => {
    if (context.dataset.typed) checkMembers(context, Object.entries(context.dataset.value), envProblem);
  }),
  v.metadata({
    type: 'object',
    propertyNames: { type: 'string', minLength: 1, pattern: '^[^=\\u0000]+$' },
    additionalProperties: { type: ['string', 'number', 'boolean'] },
  }),
);

export const ExecParamsSchema = v.object({
  operationId: v.nullish(OperationIdSchema),
  command: v.nullish(SystemTextSchema),
  executable: v.nullish(SystemTextSchema),
  args: v.nullish(ArgsSchema),
  cwd: v.nullish(SystemTextSchema),
  env: v.nullish(EnvSchema),
  timeoutMs: v.nullish(PositiveIntegerSchema),
  deadlineMs: v.nullish(
    v.pipe(
      v.number('Expected a positive finite number'),
      v.finite('Expected a positive finite number'),
      v.gtValue(0, 'Expected a positive finite number'),
    ),
  ),
  maxOutputBytes: v.nullish(PositiveIntegerSchema),
  protectedValues: v.optional(v.unknown()),
  protectedDelivery: v.optional(v.unknown()),
  traceContext: v.nullish(TraceContextSchema),
});

/** Fields with a code of their own, first one first when several are wrong. */
const FIELD_CODES: readonly (readonly [string, ErrorCode])[] = [
  ['command', 'command_invalid'],
  ['executable', 'executable_invalid'],
  ['args', 'args_invalid'],
  ['env', 'env_invalid'],
  ['cwd', 'cwd_invalid'],
  ['traceContext', 'trace_context_invalid'],
];

/** Whatever the code, `issues` names every field that is wrong. The form (command or executable) is judged last. */
export function parseExecParams(params: Record<string, unknown>): ParsedExecParams {
  const parsed = v.safeParse(ExecParamsSchema, params);
  if (!parsed.success) return { status: 'invalid', error: paramsError(parsed.issues, FIELD_CODES) };
  const input = parsed.output;
  const command = trimToNull(input.command);
  const executable = trimToNull(input.executable);
  const args = input.args ?? [];
  const formCode = formProblem(command, executable, args);
  if (formCode !== undefined) return { status: 'invalid', error: new BurrowError(formCode) };
  const value: ExecParams = {
    operationId: input.operationId || null,
    mode: command === null ? 'exec' : 'shell',
    executable,
    args,
    command,
    cwd: input.cwd || null,
    env: Object.entries(input.env ?? {}).map(([name, text]) => [name, String(text)]),
    timeoutMs: input.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    deadlineMs: input.deadlineMs ?? null,
    maxOutputBytes: input.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    protectedValues: input.protectedValues ?? undefined,
    protectedDelivery: input.protectedDelivery ?? undefined,
    traceContext: input.traceContext ? toTraceContext(input.traceContext) : null,
  };
  return { status: 'ok', value };
}

function formProblem(
  command: string | null,
  executable: string | null,
  args: string[],
): ErrorCode | undefined {
  if (command !== null && executable !== null) return 'command_and_executable_mutually_exclusive';
  if (command === null && executable === null) return 'command_or_executable_required';
  if (command !== null && args.length > 0) return 'args_with_command_invalid';
  return undefined;
}

function trimToNull(text: string | null | undefined): string | null {
  return text?.trim() || null;
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a process environment cannot hold; any other name passes unchanged (`my.key`, `1X`, `BASH_FUNC_f%%`). */
function envProblem(value: unknown, name: string): string | undefined {
  if (name === '') return 'Expected a name that is not empty';
  if (name.includes('=') || name.includes('\0')) return 'Expected a name without "=" and zero bytes';
  if (!name.isWellFormed()) return 'Expected a well-formed name without lone surrogates';
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'Expected a finite number';
  if (typeof value === 'boolean') return undefined;
  if (typeof value !== 'string') return 'Expected a string, a number or a boolean';
  if (value.includes('\0')) return 'Expected a value without zero bytes';
  return value.isWellFormed() ? undefined : 'Expected a well-formed value without lone surrogates';
}
