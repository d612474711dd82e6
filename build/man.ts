// One manual page for each command, in roff, from the definitions that `--help` shows.

import type { CommandNode } from '../src/commands/command-tree.ts';
import { flagsOf, flattenTree, loadCommandTree, positionalsOf } from '../src/commands/command-tree.ts';
import { constants } from './bundle.ts';

const EXIT_STATUSES = [
  ['0', 'Done.'],
  ['1', 'The operation failed.'],
  ['2', 'The command was called in a wrong way.'],
  ['78', 'The configuration cannot work; a service manager need not try again.'],
  ['124', 'The operation timed out.'],
  ['125', 'The gateway could not be reached, or refused.'],
  ['130', 'Interrupted.'],
] as const;

/** The text of every page by the name of its file, such as `burrow-fs-read.1`; `date` is ISO 8601. */
export async function manualPages(date: string): Promise<Map<string, string>> {
  // What the bundler puts in as constants.
  for (const [name, json] of Object.entries(constants())) Reflect.set(globalThis, name, JSON.parse(json));
  const { burrow } = await import('../src/commands/cli.ts');
  const tree = await loadCommandTree(burrow);
  const version = String(Reflect.get(globalThis, 'BURROW_VERSION'));
  return new Map(
    flattenTree(tree).map((node) => [`${node.path.join('-')}.1`, page(node, { date, version })]),
  );
}

function page(node: CommandNode, { date, version }: { date: string; version: string }): string {
  const { command, path, children } = node;
  const lines = [
    `.TH ${path.join('-').toUpperCase().replaceAll('-', '\\-')} 1 ${date} "burrow ${version}" "burrow"`,
    '.SH NAME',
    `${roff(path.join('-'))} \\- ${roff(command.meta.description)}`,
    '.SH SYNOPSIS',
    ...synopsis(node),
  ];
  if (children.length > 0) lines.push('.SH COMMANDS', ...children.flatMap(commandEntry));
  const positionals = positionalsOf(node);
  if (positionals.length > 0) {
    lines.push('.SH ARGUMENTS');
    for (const [name, flag] of positionals) lines.push(...entry(name.toUpperCase(), flag.description ?? ''));
  }
  lines.push('.SH OPTIONS');
  for (const { name, alias, value, description } of flagsOf(node)) {
    const short = alias === undefined ? '' : `-${alias}, `;
    lines.push(...entry(`${short}--${name}${value === undefined ? '' : ` ${value}`}`, description));
  }
  lines.push('.SH EXIT STATUS');
  for (const [status, meaning] of EXIT_STATUSES) lines.push(...entry(status, meaning));
  if (path[1] === 'exec') {
    lines.push(...entry('otherwise', 'As the command that was run; 128 + N when signal N ended it.'));
  }
  if (command.examples !== undefined) {
    lines.push('.SH EXAMPLES');
    for (const [index, example] of command.examples.entries()) {
      lines.push(
        ...(index === 0 ? [] : ['.PP']),
        `${roff(sentence(example.does))}:`,
        '.PP',
        '.nf',
        '.RS',
        roff(example.command),
        '.RE',
        '.fi',
      );
    }
  }
  lines.push('.SH SEE ALSO', seeAlso(node));
  return `${lines.join('\n')}\n`;
}

function synopsis(node: CommandNode): string[] {
  if (node.command.usage !== undefined) return [roff(node.command.usage)];
  const name = `.B ${roff(node.path.join(' '))}`;
  if (node.children.length > 0) return [name, '.I COMMAND', '[ARGUMENTS]'];
  const words = positionalsOf(node).map(([word, { required }]) =>
    required === false ? `[${word.toUpperCase()}]` : word.toUpperCase(),
  );
  return [name, roff(['[OPTIONS]', ...words].join(' '))];
}

function commandEntry({ path, command }: CommandNode): string[] {
  return entry(`${path.join('-')}(1)`, command.meta.description);
}

function entry(title: string, text: string): string[] {
  return ['.TP', `.B ${roff(title)}`, roff(text === '' ? title : sentence(text))];
}

function seeAlso({ path, children }: CommandNode): string {
  const parent = path.length > 1 ? [path.slice(0, -1).join('-')] : [];
  const names = [...parent, ...children.map((child) => child.path.join('-'))];
  return names.map((name) => `.BR ${roff(name)} (1)`).join(' ,\n');
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text line that roff prints as it is. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\n', ' ')
    .replace(/^([.'])/, '\\&$1');
}
