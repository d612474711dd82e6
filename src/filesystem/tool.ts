// What a filesystem tool is: arguments checked once, a run that returns its own fields, and failures that carry a code.
// It knows nothing of envelopes, operations or the outcome around the fields (filesystem.ts adds that).

import { isAbsolute, resolve } from 'node:path';
import * as v from 'valibot';
import { BurrowError } from '../protocol/errors.ts';
import type { EncodedField } from '../protocol/file-outcome.ts';
import type { Clock } from '../support/clock.ts';
import { MISSING } from './arguments.ts';
import type { FileWrites } from './replace/replace.ts';

export interface ToolContext {
  clock: Clock;
  signal: AbortSignal;
  /** Relative paths of the arguments resolve here. Read for those alone. */
  readonly cwd: string;
  /** The host's budget of entries for find and search; undefined: the contract's default. */
  traversalEntries: number | undefined;
  writes: FileWrites;
}

/** What a tool reports when it succeeds: its own fields of the outcome, in the order of the contract. */
export interface ToolAnswer {
  fields: Record<string, unknown>;
  /** The one of `fields` whose JSON text was cheaper to make than to ask for. */
  encoded?: EncodedField;
  warnings: string[];
}

export interface Tool {
  /** The argument that names the file or directory; failures echo it as it was given. */
  pathArgument: 'filePath' | 'path' | 'dirPath';
  run(toolArguments: unknown, context: ToolContext): Promise<ToolAnswer>;
}

/** A tool from its argument schema and its work. Arguments that do not fit throw `invalid_params` with their issues. */
export function defineTool<Schema extends v.GenericSchema>(
  pathArgument: Tool['pathArgument'],
  schema: Schema,
  run: (checked: v.InferOutput<Schema>, context: ToolContext) => Promise<ToolAnswer>,
): Tool {
  return {
    pathArgument,
    async run(toolArguments, context) {
      const parsed = v.safeParse(schema, toolArguments);
      if (!parsed.success) throw invalidArguments(parsed.issues);
      return run(parsed.output, context);
    },
  };
}

export function resolvePath(context: ToolContext, given: string): string {
  return isAbsolute(given) ? resolve(given) : resolve(context.cwd, given);
}

function invalidArguments(issues: readonly v.BaseIssue<unknown>[]): BurrowError {
  const named = issues.map((issue) => ({
    path: ['arguments', v.getDotPath(issue)].filter((part) => part !== null).join('.'),
    message: issue.message,
  }));
  return new BurrowError('invalid_params', {
    message: named.map(sentence).join('; '),
    issues: named,
  });
}

function sentence({ path, message }: { path: string; message: string }): string {
  return message === MISSING
    ? `Argument "${path}" is missing`
    : `Argument "${path}" is not valid: ${message}`;
}
