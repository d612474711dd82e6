// The completion script of zsh: a function for a directory of $fpath, which can also be sourced.

import { type CommandNode, flagsOf, flattenTree } from './command-tree.ts';
import { choiceFlags, firstWords, pathOf, quote, subCommandPaths, valueFlags } from './completion-words.ts';

export function zsh(tree: CommandNode): string {
  return `#compdef burrow
# zsh completion of burrow; made from its command definitions
_burrow() {
  local word name='burrow' flag='' given='' index
  local -a offers flags
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    if [[ -n $flag ]]; then flag=''; continue; fi
    if [[ $word == -- ]]; then _normal -p burrow 2>/dev/null || _files; return; fi
    case "$name $word" in
${subCommandPaths(tree)
  .map((path) => `      (${quote(path)}) name=${quote(path)} ;;`)
  .join('\n')}
      (${valueFlags(tree).map(quote).join('|')}) flag=$word ;;
      (*' -'*) ;;
      (*) given=1 ;;
    esac
  done
  if [[ -z $flag && $words[CURRENT] == --*=* ]]; then
    flag=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    case "$name $flag" in
${choiceFlags(tree)
  .map(({ flag, choices }) => `      (${quote(flag)}) compadd -- ${choices.map(quote).join(' ')} ;;`)
  .join('\n')}
      (*) _files ;;
    esac
    return
  fi
  case $name in
${flattenTree(tree).map(nodeLines).join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe -o flag flags
  elif (( $#offers )); then _describe command offers
  else _files
  fi
}
if [[ $funcstack[1] == _burrow ]]; then _burrow "$@"; else compdef _burrow burrow; fi
`;
}

function nodeLines(node: CommandNode): string {
  const commands = node.children.map(({ command: { meta } }) => offer(meta.name, meta.description));
  const first = firstWords(node).map(quote).join(' ');
  const flags = flagsOf(node).map((flag) => offer(`--${flag.name}`, flag.description));
  return `    (${quote(pathOf(node))})
      ${first === '' ? '' : '[[ -n $given ]] || '}offers=(${first === '' ? commands.join(' ') : first})
      flags=(${flags.join(' ')}) ;;`;
}

function offer(name: string, description: string): string {
  return quote(`${name}:${description.replaceAll(':', '\\:')}`);
}
