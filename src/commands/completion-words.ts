// What the three completion scripts are filled with: words of the tree of commands, quoted for a shell.

import { type CommandNode, flagsOf, flattenTree, positionalsOf } from './command-tree.ts';

/** Hints of flags and arguments whose value is a path. */
export const PATH_HINT = /FILE|DIR|PATH|SOCKET|@/i;

/** `burrow fs`, `burrow fs read`, …: every command below the top. */
export function subCommandPaths(tree: CommandNode): string[] {
  return flattenTree(tree).slice(1).map(pathOf);
}

/** `burrow exec --cwd`, `burrow exec -c`, …: flags that take the next word, those whose value hint fits. */
export function valueFlags(tree: CommandNode, hint = /./): string[] {
  return flattenTree(tree).flatMap((node) =>
    flagsOf(node)
      .filter(({ value }) => value !== undefined && hint.test(value))
      .flatMap(({ name, alias }) => (alias === undefined ? [`--${name}`] : [`--${name}`, `-${alias}`]))
      .map((flag) => `${pathOf(node)} ${flag}`),
  );
}

/** `burrow fs read --encoding` with its words, …: flags that take one of a few words. */
export function choiceFlags(tree: CommandNode): { flag: string; choices: readonly string[] }[] {
  return flattenTree(tree).flatMap((node) =>
    flagsOf(node).flatMap(({ name, choices }) =>
      choices === undefined ? [] : [{ flag: `${pathOf(node)} --${name}`, choices }],
    ),
  );
}

/** What stands first after the command, where that is one of a few words; else nothing. */
export function firstWords(node: CommandNode): readonly string[] {
  return positionalsOf(node)[0]?.[1].choices ?? [];
}

export function pathOf(node: CommandNode): string {
  return node.path.join(' ');
}

/** For a shell; fish knows `'\\''` too, as the end, an escaped quote, and a new start. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
