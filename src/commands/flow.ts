// `burrow flow`: check and run the workflows of a project.

import type { Command } from './command.ts';

export const flowCommand: Command = {
  meta: { name: 'flow', description: 'Check and run the workflows of .octonode' },
  examples: [
    { command: 'burrow flow check', does: 'find every mistake in every workflow, and run nothing' },
    {
      command: `burrow flow run orders --inputs '{"day":"2030-01-31"}'`,
      does: 'run a workflow and print its outputs',
    },
  ],
  subCommands: {
    run: () => import('./flow-run.ts').then((module) => module.flowRunCommand),
    check: () => import('./flow-check.ts').then((module) => module.flowCheckCommand),
  },
};
