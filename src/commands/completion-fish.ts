// The completion script of fish: one line for each thing that can be offered, with the condition under which it is.

import { type CommandNode, type FlagLine, flagsOf, flattenTree } from './command-tree.ts';
import { firstWords, PATH_HINT, pathOf, quote, subCommandPaths, valueFlags } from './completion-words.ts';

export function fish(tree: CommandNode): string {
  return `# fish completion of burrow; made from its command definitions
function __burrow_walk
    set -l path burrow
    set -l flag
    set -l given no
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            set flag
            continue
        end
        switch "$path $word"
            case ${subCommandPaths(tree).map(quote).join(' ')}
                set path "$path $word"
            case ${valueFlags(tree).map(quote).join(' ')}
                set flag $word
            case '* -*'
            case '*'
                set given yes
        end
    end
    echo $path
    echo $given
end
function __burrow_path
    set -l walked (__burrow_walk)
    echo $walked[1]
end
function __burrow_begins
    set -l walked (__burrow_walk)
    test "$walked" = "$argv[1] no"
end
${flattenTree(tree).flatMap(nodeLines).join('\n')}
`;
}

function nodeLines(node: CommandNode): string[] {
  const path = quote(pathOf(node));
  const at = `complete -c burrow -n ${quote(`test (__burrow_path) = ${path}`)}`;
  const commands = node.children.map(
    ({ command: { meta } }) => `${at} -f -a ${quote(meta.name)} -d ${quote(meta.description)}`,
  );
  const first = firstWords(node).join(' ');
  const words =
    first === '' ? [] : [`complete -c burrow -n ${quote(`__burrow_begins ${path}`)} -f -a ${quote(first)}`];
  return [...commands, ...words, ...flagsOf(node).map((flag) => `${at} ${flagOptions(flag)}`)];
}

function flagOptions({ name, alias, description, value, choices }: FlagLine): string {
  const short = alias === undefined ? '' : ` -s ${alias}`;
  return `-l ${name}${short}${valueOptions(value, choices)} -d ${quote(description)}`;
}

function valueOptions(value: string | undefined, choices: readonly string[] | undefined): string {
  if (value === undefined) return '';
  if (choices !== undefined) return ` -x -a ${quote(choices.join(' '))}`;
  return PATH_HINT.test(value) ? ' -r -F' : ' -x';
}
