// All commands with their loaded definitions, for what is made from them: completions and manual pages. Hidden ones are left out.

import type { Command, Flag } from './command.ts';

export interface CommandNode {
  /** `['burrow', 'fs', 'read']`. */
  path: readonly string[];
  command: Command;
  children: readonly CommandNode[];
}

export async function loadCommandTree(
  command: Command,
  parentPath: readonly string[] = [],
): Promise<CommandNode> {
  const path = [...parentPath, command.meta.name];
  const loads = Object.values(command.subCommands ?? {});
  const commands = await Promise.all(loads.map((load) => load()));
  const shown = commands.filter((child) => child.meta.hidden !== true);
  return { path, command, children: await Promise.all(shown.map((child) => loadCommandTree(child, path))) };
}

/** The node and all below it, each before its children. */
export function flattenTree(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(flattenTree)];
}

export interface FlagLine {
  name: string;
  alias: string | undefined;
  description: string;
  /** How the value is written; undefined for a flag that takes none. */
  value: string | undefined;
  /** The few words that it takes; undefined for any other flag. */
  choices: readonly string[] | undefined;
}

/** The flags of a command and the ones that every command takes. */
export function flagsOf({ command }: CommandNode): FlagLine[] {
  const own = Object.entries(command.args ?? {}).filter(([, flag]) => flag.type !== 'positional');
  const common = [
    { name: 'help', alias: 'h', description: 'Show the arguments and two examples', value: undefined },
    { name: 'no-color', alias: undefined, description: 'Print without colours', value: undefined },
  ].map((flag) => ({ ...flag, choices: undefined }));
  const lines = own.map(([name, flag]) => ({
    name,
    alias: 'alias' in flag && typeof flag.alias === 'string' ? flag.alias : undefined,
    description: flag.description ?? '',
    value: flag.type === 'boolean' ? undefined : valueHint(flag),
    choices: flag.choices,
  }));
  return [...lines, ...common.filter(({ name }) => !lines.some((line) => line.name === name))];
}

export function positionalsOf({ command }: CommandNode): [string, Flag][] {
  return Object.entries(command.args ?? {}).filter(([, flag]) => flag.type === 'positional');
}

function valueHint(flag: Flag): string {
  return 'valueHint' in flag && typeof flag.valueHint === 'string' ? flag.valueHint : 'VALUE';
}
