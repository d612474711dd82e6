// What the commands under `burrow fs` share: one call of a tool, its failure told on stderr, its warnings too, and paths
// and numbers from arguments.

import { isAbsolute, resolve } from 'node:path';
import * as v from 'valibot';
import { createGatewayClient, type GatewayClient } from '../client/client.ts';
import { ERRORS } from '../protocol/errors.ts';
import { FilesystemOutcomeSchema } from '../protocol/file-outcome.ts';
import { parseSizeBytes } from '../support/durations.ts';
import { type Call, type Flag, UsageError } from './command.ts';
import { exitStatusOfSignal, reportEnd } from './evidence-text.ts';
import { runOperation } from './run-operation.ts';
import { EXIT, type System } from './system.ts';
import { runOnTargets, TARGET_FLAGS, type Target } from './target.ts';

export type ToolOutcome = v.InferOutput<typeof FilesystemOutcomeSchema>;

/** `failed`: there is no outcome, and why was said on stderr. `interrupted`: the exit status of the signal that came. */
export type ToolEnd =
  | { status: 'outcome'; outcome: ToolOutcome; exitStatus: number; interrupted: number | undefined }
  | { status: 'failed'; exitStatus: number };

export interface FileTools {
  call(tool: string, toolArguments: Record<string, unknown>): Promise<ToolEnd>;
  close(): Promise<void>;
}

export const TOOL_FLAGS: Readonly<Record<string, Flag>> = {
  json: { type: 'boolean', description: 'Print the outcome as one JSON line' },
  ...TARGET_FLAGS,
};

/** Of the tools that look through a whole tree. */
export const TRAVERSAL_FLAGS: Readonly<Record<string, Flag>> = {
  depth: { type: 'string', valueHint: 'N', description: 'Levels below the first to enter (default 8)' },
  'max-traversal': {
    type: 'string',
    valueHint: 'N',
    description: 'Most entries to look at (default 4000, or BURROW_FILESYSTEM_TRAVERSAL_ENTRIES)',
  },
};

export function openFileTools(target: Target, system: System): FileTools {
  const client = createGatewayClient(target.open);
  let isAbandoned = false;
  return {
    async call(tool, toolArguments) {
      const ended = await callTool(client, { tool, arguments: toolArguments }, { system, target });
      if (ended.status !== 'abandoned') return ended;
      isAbandoned = true;
      return { status: 'failed', exitStatus: ended.exitStatus };
    },
    close: () => (isAbandoned ? Promise.resolve() : client.close()),
  };
}

interface Asked<Schema extends v.GenericSchema> {
  tool: string;
  arguments: Record<string, unknown>;
  schema: Schema;
  show(outcome: v.InferOutput<Schema>): string;
}

/** Calls one tool and prints its outcome, with `show` or as JSON. Answers the exit status: 0, 1 when the tool failed, 2 when it refused an argument. */
export function runFileTool<Schema extends v.GenericSchema>(
  call: Call,
  asked: Asked<Schema>,
): Promise<number> {
  return runOnTargets(call, (own, target) => showTool(own, target, asked));
}

async function showTool<Schema extends v.GenericSchema>(
  { flags, system }: Call,
  target: Target,
  asked: Asked<Schema>,
): Promise<number> {
  const tools = openFileTools(target, system);
  const ended = await tools.call(asked.tool, asked.arguments);
  await tools.close();
  if (ended.status === 'failed') return ended.exitStatus;
  const { outcome } = ended;
  if (flags['json'] === true) system.stdout.write(`${JSON.stringify(outcome)}\n`);
  if (!outcome.ok) reportFailure(outcome, system);
  else if (flags['json'] !== true) {
    system.stdout.write(asked.show(parseOutcome(asked.schema, outcome)));
    reportWarnings(outcome, system);
  }
  return ended.exitStatus;
}

/** Throws when a gateway sent something else: its contract is broken. */
export function parseOutcome<Schema extends v.GenericSchema>(
  schema: Schema,
  outcome: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, outcome);
  if (parsed.success) return parsed.output;
  throw new Error('Gateway answered without the fields of the tool; compare the versions of both ends');
}

export function reportFailure(outcome: ToolOutcome, system: System): void {
  const code = outcome.error ?? 'internal_error';
  const message = outcome.diagnostic?.message ?? 'Tool failed';
  // The sentence for an errno ends in it already.
  system.stderr.write(`burrow: ${message}${message.endsWith(`(${code})`) ? '' : ` (${code})`}\n`);
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS] : undefined;
  if (known !== undefined) system.stderr.write(`burrow: ${known.remedy}\n`);
}

export function reportWarnings(outcome: ToolOutcome, system: System): void {
  for (const warning of outcome.warnings) system.stderr.write(`burrow: ${warning}\n`);
}

/**
 * As a shell means it: relative to where the command was called. Behind a controller it is relative to where the daemon runs.
 * An empty path stays empty, to be refused by the tool.
 */
export function pathArgument({ flags, system }: Call, path: string | undefined): string {
  if (path === undefined || path === '') return '';
  if (flags['controller'] !== undefined) return path;
  // A slash at the end says that a directory is meant, and the tool wants to know.
  const absolute = isAbsolute(path) ? resolve(path) : resolve(system.cwd, path);
  return `${absolute}${/[^/]\/+$/.test(path) ? '/' : ''}`;
}

/** The arguments with those behind `--`, which may begin with a dash. Throws when there are more or fewer than `names`. */
export function dashArguments(call: Call, names: readonly string[]): string[] {
  const given = [...call.positionals, ...(call.rest ?? [])];
  const missing = names[given.length];
  if (missing !== undefined) throw new UsageError(`Argument ${missing} is missing`);
  const surplus = given[names.length];
  if (surplus !== undefined) throw new UsageError(`Argument "${surplus}" is not expected`);
  return given;
}

/** The flags of `names` that were given, under the names that the tool has for them. */
export function countArguments(
  flags: Call['flags'],
  names: Readonly<Record<string, string>>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [flag, name] of Object.entries(names)) {
    const text = flags[flag];
    if (typeof text !== 'string') continue;
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)) || Number(text) < 1)
      throw new UsageError(`Flag "--${flag}" takes a positive whole number, not "${text}"`);
    counts[name] = Number(text);
  }
  return counts;
}

export function sizeArgument(flags: Call['flags'], name: string): number | undefined {
  const text = flags[name];
  if (typeof text !== 'string') return undefined;
  const size = /^0+$/.test(text) ? 0 : parseSizeBytes(text);
  if (size === undefined)
    throw new UsageError(
      `Flag "--${name}" takes a size in whole bytes such as 4096, 64KiB or 1.5MiB, not "${text}"`,
    );
  return size;
}

/** File names and lines may hold anything: on a terminal a control character is shown, not obeyed. */
export function printable(system: System, text: string): string {
  if (system.stdout.isTTY !== true) return text;
  return text.replace(
    /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

async function callTool(
  client: GatewayClient,
  params: { tool: string; arguments: Record<string, unknown> },
  { system, target }: { system: System; target: Target },
): Promise<ToolEnd | { status: 'abandoned'; exitStatus: number }> {
  const ended = await runOperation({
    client,
    method: 'filesystem.execute',
    params,
    streams: undefined,
    system,
    target,
  });
  if (ended.status === 'abandoned') return ended;
  const { answer } = ended;
  const interrupted = ended.interruptedBy === undefined ? undefined : exitStatusOfSignal(ended.interruptedBy);
  if (answer.status !== 'ok') {
    const exitStatus = reportEnd(answer, system.stderr);
    return { status: 'failed', exitStatus: interrupted ?? exitStatus };
  }
  const outcome = parseOutcome(FilesystemOutcomeSchema, answer.result['outcome']);
  return { status: 'outcome', outcome, exitStatus: exitStatusOf(outcome, interrupted), interrupted };
}

function exitStatusOf({ ok, error }: ToolOutcome, interrupted: number | undefined): number {
  if (ok) return EXIT.done;
  if (error === 'cancelled' && interrupted !== undefined) return interrupted;
  return error === 'invalid_params' ? EXIT.usage : EXIT.failed;
}
