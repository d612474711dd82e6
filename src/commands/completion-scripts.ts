// The three completion scripts. Each holds the whole tree of commands, asks burrow nothing, and walks the words before the
// cursor to find the command they name; a flag's value is completed as a file where the flag takes one, and as one of its
// words where it takes one of a few.

import type { CommandNode } from './command-tree.ts';
import { bash } from './completion-bash.ts';
import { fish } from './completion-fish.ts';
import { zsh } from './completion-zsh.ts';

export const COMPLETION_SCRIPTS: Readonly<Record<string, (tree: CommandNode) => string>> = {
  bash,
  zsh,
  fish,
};
