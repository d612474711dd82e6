// `burrow node`: run one node, see its manifest, compare how it can be run, begin a new one.

import type { Command } from './command.ts';
import { EXIT } from './system.ts';

export const nodeCommand: Command = {
  meta: { name: 'node', description: 'Run, describe, measure and begin Octonode nodes' },
  examples: [
    {
      command: `burrow node run greet.ts --inputs '{"name":"Ada"}'`,
      does: 'run a TypeScript node; nothing needs to be installed',
    },
    {
      command: 'burrow node describe -- python3 nodes/greet.py',
      does: 'print what a node says about itself',
    },
  ],
  subCommands: {
    run: () => import('./node-run.ts').then((module) => module.nodeRunCommand),
    describe: () => import('./node-describe.ts').then((module) => module.nodeDescribeCommand),
    bench: () => import('./node-bench.ts').then((module) => module.nodeBenchCommand),
    new: () => import('./node-new.ts').then((module) => module.nodeNewCommand),
    types: async () => types,
    host: async () => host,
  },
};

const types: Command = {
  meta: { name: 'types', description: 'Print the type declarations of the built-in module burrow/node' },
  examples: [
    { command: 'burrow node types > burrow-node.d.ts', does: 'let an editor know burrow/node' },
    { command: 'burrow node types | less', does: 'read what a node file can import' },
  ],
  async run({ system }) {
    const { SDK_TYPES } = await import('../octonode/sdk/sdk.ts');
    system.stdout.write(SDK_TYPES);
    return EXIT.done;
  },
};

/** What the engine starts for a TypeScript or JavaScript file; people have no use for it. */
const host: Command = {
  meta: { name: 'host', description: 'Answer node requests on stdin with the nodes of a file', hidden: true },
  args: { file: { type: 'positional', description: 'The TypeScript or JavaScript file' } },
  examples: [
    { command: 'burrow node host greet.ts < requests.jsonl', does: 'answer one request a line' },
    {
      command: 'burrow node run -- burrow node host greet.ts',
      does: 'the long form of burrow node run greet.ts',
    },
  ],
  async run({ positionals, system }) {
    const { hostNodes } = await import('../octonode/host/host.ts');
    const end = await hostNodes(positionals[0] ?? '', {
      stdin: system.stdin,
      stdout: system.stdout,
      stderr: system.stderr,
    });
    return end === 'ended' ? EXIT.done : EXIT.failed;
  },
};
