// What a command is: citty's definition (name, arguments, sub-commands) with examples and a way to run that answers
// an exit status. Arguments are read strictly: an unknown flag is refused with the nearest one that exists.

import { parseArgs } from 'node:util';
import type { ArgDef, CommandMeta } from 'citty';
import type { System } from './system.ts';

export type Flag = ArgDef & {
  /** The flag may be given several times; its values are collected. */
  multiple?: boolean;
  /** The few words that it takes, for completion; whoever reads the value refuses others. */
  choices?: readonly string[];
  /** An empty value means something. Default false: it is refused, since a variable that was not set most likely stood there. */
  mayBeEmpty?: boolean;
};

export interface Call {
  /** Values by name: a string, `true`, or an array for a flag that may repeat. Absent flags are undefined. */
  flags: Readonly<Record<string, string | boolean | string[] | undefined>>;
  positionals: readonly string[];
  /** What stands after `--`, for a command that takes it; undefined when there is no `--`. */
  rest: readonly string[] | undefined;
  system: System;
}

export interface Example {
  command: string;
  does: string;
}

export interface Command {
  meta: CommandMeta & { name: string; description: string };
  args?: Record<string, Flag>;
  /** What stands after `--` is a command to run. Default false: `--` only says that no flags follow. */
  takesRest?: boolean;
  /** How the arguments look in the usage line, when flags and names alone do not tell. */
  usage?: string;
  examples?: readonly Example[];
  subCommands?: Readonly<Record<string, () => Promise<Command>>>;
  run?(call: Call): Promise<number>;
}

/** A mistake in how a command was called: exit status 2, the sentence and a hint on stderr. */
export class UsageError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
  }
}

/** Throws UsageError for an unknown flag, a missing or empty value, or a positional argument that the command does not take. */
export function parseCall(command: Command, rawArgs: readonly string[], system: System): Call {
  const definitions = Object.entries(command.args ?? {});
  const flagNames = definitions.filter(([, definition]) => definition.type !== 'positional');
  const options = Object.fromEntries(flagNames.map(([name, definition]) => [name, optionConfig(definition)]));
  const positionalNames = definitions.filter(([, definition]) => definition.type === 'positional');
  const separator = rawArgs.indexOf('--');
  const own = separator === -1 ? rawArgs : rawArgs.slice(0, separator);
  const rest = separator === -1 ? undefined : rawArgs.slice(separator + 1);
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      options,
      strict: true,
      allowPositionals: true,
    });
    refuseEmptyValues(flagNames, values);
    const takesRest = command.takesRest === true;
    if (!takesRest) positionals.push(...(rest ?? []));
    requirePositionals(positionalNames, positionals, {
      hasRest: takesRest && rest !== undefined,
      surplusHint: takesRest ? 'A command to run stands after "--"' : undefined,
    });
    return { flags: values as Call['flags'], positionals, rest: takesRest ? rest : undefined, system };
  } catch (error) {
    throw error instanceof UsageError ? error : usageErrorFrom(error, own, Object.keys(options));
  }
}

/** The candidate that needs the fewest edits, when it is near enough to be a slip of the hand. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3))
    ? best.candidate
    : undefined;
}

function optionConfig(definition: Flag): { type: 'string' | 'boolean'; short?: string; multiple?: boolean } {
  const alias = 'alias' in definition && typeof definition.alias === 'string' ? definition.alias : undefined;
  return {
    type: definition.type === 'boolean' ? 'boolean' : 'string',
    ...(alias === undefined ? {} : { short: alias }),
    ...(definition.multiple === true ? { multiple: true } : {}),
  };
}

function refuseEmptyValues(
  definitions: readonly [string, Flag][],
  values: Readonly<Record<string, unknown>>,
): void {
  for (const [name, { mayBeEmpty }] of definitions) {
    const given = values[name];
    if (mayBeEmpty === true || (given !== '' && !(Array.isArray(given) && given.includes('')))) continue;
    throw new UsageError(
      `Flag "--${name}" needs a value, not an empty one`,
      'Was it a variable that is not set?',
    );
  }
}

function requirePositionals(
  definitions: readonly [string, Flag][],
  given: readonly string[],
  { hasRest, surplusHint }: { hasRest: boolean; surplusHint: string | undefined },
): void {
  const missing = definitions[given.length];
  if (missing !== undefined && missing[1].required !== false && !hasRest) {
    throw new UsageError(`Argument ${missing[0].toUpperCase()} is missing`);
  }
  const surplus = given[definitions.length];
  const takesMany = definitions.at(-1)?.[1].multiple === true;
  if (surplus !== undefined && !takesMany) {
    throw new UsageError(`Argument "${surplus}" is not expected`, surplusHint);
  }
}

function usageErrorFrom(error: unknown, args: readonly string[], known: readonly string[]): Error {
  if (!(error instanceof Error) || !('code' in error)) return error as Error;
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const flag = /'(-[^']*)'/.exec(error.message)?.[1] ?? args.find((arg) => arg.startsWith('-')) ?? '';
    const near = nearest(flag.replace(/^-+/, ''), known);
    return new UsageError(
      `Flag "${flag}" is not known`,
      near === undefined ? undefined : `Did you mean "--${near}"?`,
    );
  }
  if (error.code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    // Node.js names the flag with its short form and a placeholder: '-c, --command <value>'.
    const flag = /--[^\s'=]+/.exec(error.message)?.[0] ?? '';
    if (error.message.includes('does not take')) return new UsageError(`Flag "${flag}" takes no value`);
    return new UsageError(
      `Flag "${flag}" needs a value`,
      `A value that begins with "-" is joined: ${flag}=VALUE`,
    );
  }
  return error;
}

/** Two neighbours in the wrong order are one slip, as one wrong, missing or surplus character is. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? at(i - 2, j - 2) + 1 : substitution;
      row.push(Math.min(substitution, swap, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}
