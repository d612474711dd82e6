// `burrow completion`: a script that lets a shell complete commands and flags, made from the same definitions as `--help`.

import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { EXIT } from './system.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

/** Of the whole tree of commands below `root`. */
export function createCompletionCommand(root: Command): Command {
  return {
    meta: { name: 'completion', description: 'Print the completion script of a shell' },
    args: {
      shell: {
        type: 'positional',
        valueHint: SHELLS.join('|'),
        choices: SHELLS,
        description: 'bash, zsh or fish',
      },
    },
    examples: [
      { command: 'source <(burrow completion bash)', does: 'complete burrow in this bash' },
      {
        command: 'burrow completion fish > ~/.config/fish/completions/burrow.fish',
        does: 'complete burrow in every fish',
      },
    ],
    async run({ positionals: [shell = ''], system }) {
      const { COMPLETION_SCRIPTS } = await import('./completion-scripts.ts');
      const script = Object.hasOwn(COMPLETION_SCRIPTS, shell) ? COMPLETION_SCRIPTS[shell] : undefined;
      if (script === undefined)
        throw new UsageError(`Shell "${shell}" is not known`, `Shells: ${SHELLS.join(', ')}`);
      const { loadCommandTree } = await import('./command-tree.ts');
      system.stdout.write(script(await loadCommandTree(root)));
      return EXIT.done;
    },
  };
}
