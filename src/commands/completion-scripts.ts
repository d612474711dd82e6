// The three completion scripts. Each holds the whole tree of commands, asks burrow nothing, and walks the words before the
// cursor to find the command they name; a flag's value is completed as a file where the flag takes one.

import { type CommandNode, type FlagLine, flagsOf, flattenTree } from './command-tree.ts';

/** Hints of flags and arguments whose value is a path. */
const PATH_HINT = /FILE|DIR|PATH|SOCKET|@/i;

export const COMPLETION_SCRIPTS: Readonly<Record<string, (tree: CommandNode) => string>> = {
  bash,
  zsh,
  fish,
};

function bash(tree: CommandNode): string {
  return `# bash completion of burrow; made from its command definitions
_burrow() {
  local word path=burrow skip= index
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [ -n "$skip" ]; then skip=; continue; fi
    if [ "$word" = -- ]; then COMPREPLY=($(compgen -c -f -- "$current")); return; fi
    case "$path $word" in
${subCommandPaths(tree)
  .map((path) => `      ${quote(path)}) path=${quote(path)} ;;`)
  .join('\n')}
${valueFlags(tree).length === 0 ? '' : `      ${valueFlags(tree).map(quote).join(' | ')}) skip=1 ;;`}
    esac
  done
  if [ -n "$skip" ]; then
    case "$path $previous" in
${valueFlags(tree, PATH_HINT).length === 0 ? '' : `      ${valueFlags(tree, PATH_HINT).map(quote).join(' | ')}) COMPREPLY=($(compgen -f -- "$current")) ;;`}
    esac
    return
  fi
  local flags= commands=
  case "$path" in
${flattenTree(tree)
  .map(
    (node) =>
      `    ${quote(node.path.join(' '))}) flags=${quote(words(node))} commands=${quote(subCommands(node))} ;;`,
  )
  .join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *) if [ -n "$commands" ]; then COMPREPLY=($(compgen -W "$commands" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _burrow burrow
`;
}

function zsh(tree: CommandNode): string {
  return `#compdef burrow
# zsh completion of burrow; made from its command definitions
_burrow() {
  local word name='burrow' skip='' index
  local -a offers flags
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    if [[ -n $skip ]]; then skip=''; continue; fi
    if [[ $word == -- ]]; then _normal -p burrow 2>/dev/null || _files; return; fi
    case "$name $word" in
${subCommandPaths(tree)
  .map((path) => `      (${quote(path)}) name=${quote(path)} ;;`)
  .join('\n')}
      (${valueFlags(tree).map(quote).join('|')}) skip=1 ;;
    esac
  done
  if [[ -n $skip ]]; then _files; return; fi
  case $name in
${flattenTree(tree)
  .map(
    (node) => `    (${quote(node.path.join(' '))})
      offers=(${node.children.map((child) => zshOffer(child.command.meta.name, child.command.meta.description)).join(' ')})
      flags=(${flagsOf(node)
        .map((flag) => zshOffer(`--${flag.name}`, flag.description))
        .join(' ')}) ;;`,
  )
  .join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe -o flag flags
  elif (( $#offers )); then _describe command offers
  else _files
  fi
}
if [[ $funcstack[1] == _burrow ]]; then _burrow "$@"; else compdef _burrow burrow; fi
`;
}

function fish(tree: CommandNode): string {
  const lines = flattenTree(tree).flatMap((node) => {
    const at = `complete -c burrow -n ${quote(`test (__burrow_path) = ${quote(node.path.join(' '))}`)}`;
    const commands = node.children.map(
      ({ command: { meta } }) => `${at} -f -a ${quote(meta.name)} -d ${quote(meta.description)}`,
    );
    return [...commands, ...flagsOf(node).map((flag) => `${at} ${fishFlag(flag)}`)];
  });
  return `# fish completion of burrow; made from its command definitions
function __burrow_path
    set -l path burrow
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
            case ${subCommandPaths(tree).map(quote).join(' ')}
                set path "$path $word"
        end
    end
    echo $path
end
${lines.join('\n')}
`;
}

function fishFlag({ name, alias, description, value }: FlagLine): string {
  const short = alias === undefined ? '' : ` -s ${alias}`;
  const takes = value === undefined ? '' : PATH_HINT.test(value) ? ' -r -F' : ' -x';
  return `-l ${name}${short}${takes} -d ${quote(description)}`;
}

/** `burrow fs`, `burrow fs read`, …: every command below the top. */
function subCommandPaths(tree: CommandNode): string[] {
  return flattenTree(tree)
    .slice(1)
    .map((node) => node.path.join(' '));
}

/** `burrow exec --cwd`, `burrow exec -c`, …: flags that take the next word, those whose value hint fits. */
function valueFlags(tree: CommandNode, hint = /./): string[] {
  return flattenTree(tree).flatMap((node) =>
    flagsOf(node)
      .filter(({ value }) => value !== undefined && hint.test(value))
      .flatMap(({ name, alias }) => (alias === undefined ? [`--${name}`] : [`--${name}`, `-${alias}`]))
      .map((flag) => `${node.path.join(' ')} ${flag}`),
  );
}

function words(node: CommandNode): string {
  return flagsOf(node)
    .map(({ name }) => `--${name}`)
    .join(' ');
}

function subCommands(node: CommandNode): string {
  return node.children.map((child) => child.command.meta.name).join(' ');
}

function zshOffer(name: string, description: string): string {
  return quote(`${name}:${description.replaceAll(':', '\\:')}`);
}

/** For a shell; fish knows `'\\''` too, as the end, an escaped quote, and a new start. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
