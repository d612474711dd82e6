// The completion script of bash. Readline hands over `--flag=value` as three words.

import { type CommandNode, flagsOf, flattenTree } from './command-tree.ts';
import {
  choiceFlags,
  firstWords,
  PATH_HINT,
  pathOf,
  quote,
  subCommandPaths,
  valueFlags,
} from './completion-words.ts';

export function bash(tree: CommandNode): string {
  return `# bash completion of burrow; made from its command definitions
_burrow_words() {
  compopt +o filenames 2>/dev/null
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}
_burrow() {
  local word path=burrow flag= given= index
  local current=\${COMP_WORDS[COMP_CWORD]}
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [ -n "$flag" ]; then
      if [ "$word" != = ]; then flag=; fi
      continue
    fi
    if [ "$word" = -- ]; then COMPREPLY=($(compgen -c -f -- "$current")); return; fi
    case "$path $word" in
${subCommandPaths(tree)
  .map((path) => `      ${quote(path)}) path=${quote(path)} ;;`)
  .join('\n')}
${caseLine(valueFlags(tree), 'flag=$word')}
      *' -'*) ;;
      *) given=1 ;;
    esac
  done
  if [ -n "$flag" ]; then
    if [ "$current" = = ]; then current=; fi
    case "$path $flag" in
${choiceFlags(tree)
  .map(({ flag, choices }) => caseLine([flag], `_burrow_words ${quote(choices.join(' '))} "$current"`))
  .join('\n')}
${caseLine(valueFlags(tree, PATH_HINT), 'COMPREPLY=($(compgen -f -- "$current"))')}
    esac
    return
  fi
  local flags= words=
  case "$path" in
${flattenTree(tree).map(nodeLine).join('\n')}
  esac
  case "$current" in
    -*) _burrow_words "$flags" "$current" ;;
    *) if [ -n "$words" ]; then _burrow_words "$words" "$current"; else COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _burrow burrow
`;
}

function nodeLine(node: CommandNode): string {
  const flags = flagsOf(node).map(({ name }) => `--${name}`);
  const commands = node.children.map((child) => child.command.meta.name);
  const first = firstWords(node);
  const words = quote((first.length === 0 ? commands : first).join(' '));
  const unless = first.length === 0 ? '' : '; if [ -n "$given" ]; then words=; fi';
  return `    ${quote(pathOf(node))}) flags=${quote(flags.join(' '))} words=${words}${unless} ;;`;
}

function caseLine(patterns: readonly string[], action: string): string {
  return patterns.length === 0 ? '' : `      ${patterns.map(quote).join(' | ')}) ${action} ;;`;
}
