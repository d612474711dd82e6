// The parameters of the methods that need little: cancel names an operation, hello, health and shutdown take anything.

import * as v from 'valibot';
import type { BurrowError } from './errors.ts';
import { paramsError } from './issues.ts';
import { OperationIdSchema } from './params-text.ts';

export type CancelParams = v.InferOutput<typeof CancelParamsSchema>;

export type ParsedCancelParams =
  | { status: 'ok'; value: CancelParams }
  | { status: 'invalid'; error: BurrowError };

export const CancelParamsSchema = v.object(
  { operationId: v.pipe(OperationIdSchema, v.minLength(1, 'Expected a string that is not empty')) },
  // Said of a missing operationId: the params themselves are always an object here.
  'Expected a string',
);

/** Params of hello, health and shutdown: accepted whatever they hold, and ignored. */
export const IgnoredParamsSchema = v.object({});

/** Code: `invalid_params` when operationId is missing or is not a string of 1 to 256 characters. */
export function parseCancelParams(params: Record<string, unknown>): ParsedCancelParams {
  const parsed = v.safeParse(CancelParamsSchema, params);
  if (!parsed.success) return { status: 'invalid', error: paramsError(parsed.issues) };
  return { status: 'ok', value: parsed.output };
}
