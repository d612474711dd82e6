// The parameters of filesystem.execute: which tool, and its arguments. The arguments are judged by the tool itself, whose
// refusal is an outcome; fields that are not named here are accepted, ignored, and part of the request digest.

import * as v from 'valibot';
import { BurrowError } from './errors.ts';
import { paramsError } from './issues.ts';
import { OperationIdSchema } from './params-text.ts';
import { type TraceContext, TraceContextSchema, toTraceContext } from './trace-context.ts';

/** The tools that exist, by the names they have in requests. */
export const FILESYSTEM_TOOL_NAMES: readonly string[] = [
  'files_read',
  'files_inspect',
  'files_list',
  'files_find',
  'files_search',
  'files_write',
  'files_edit',
];

export interface FilesystemParams {
  /** Null: derived from the request digest. */
  operationId: string | null;
  /** Any text: a tool that does not exist is an outcome, not a refusal. */
  tool: string;
  /** As received; absent and null are an object without arguments. */
  arguments: unknown;
  traceContext: TraceContext | null;
}

export type ParsedFilesystemParams =
  | { status: 'ok'; value: FilesystemParams }
  | { status: 'invalid'; error: BurrowError };

export const FilesystemParamsSchema = v.object({
  operationId: v.nullish(OperationIdSchema),
  tool: v.string('Expected a string'),
  arguments: v.optional(v.pipe(v.unknown(), v.metadata({ type: ['object', 'null'] }))),
  traceContext: v.nullish(TraceContextSchema),
});

/**
 * Codes: `protected_delivery_binding_invalid` when protected values come along, because only processes take them;
 * `trace_context_invalid`; `invalid_params` for the rest, with every wrong field in `issues`.
 */
export function parseFilesystemParams(params: Record<string, unknown>): ParsedFilesystemParams {
  if (isGiven(params['protectedValues']) || isGiven(params['protectedDelivery'])) {
    const message = 'Protected values are taken by process.exec only';
    return { status: 'invalid', error: new BurrowError('protected_delivery_binding_invalid', { message }) };
  }
  const parsed = v.safeParse(FilesystemParamsSchema, params);
  if (!parsed.success) {
    return {
      status: 'invalid',
      error: paramsError(parsed.issues, [['traceContext', 'trace_context_invalid']]),
    };
  }
  const input = parsed.output;
  const value: FilesystemParams = {
    operationId: input.operationId || null,
    tool: input.tool,
    arguments: input.arguments ?? {},
    traceContext: input.traceContext ? toTraceContext(input.traceContext) : null,
  };
  return { status: 'ok', value };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
