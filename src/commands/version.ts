// `burrow version`: which burrow, built on which Node.js, from which commit.

import { COMMIT, VERSION } from '../version.ts';
import type { Command } from './command.ts';
import { EXIT } from './system.ts';

export const versionCommand: Command = {
  meta: { name: 'version', description: 'Print version, Node.js version and commit' },
  args: { json: { type: 'boolean', description: 'Print one JSON object' } },
  examples: [
    { command: 'burrow version', does: 'print one readable line' },
    { command: 'burrow version --json', does: 'print {"version","node","commit"}' },
  ],
  async run({ flags, system }) {
    const facts = { version: VERSION, node: process.versions.node, commit: COMMIT };
    const text =
      flags['json'] === true
        ? JSON.stringify(facts)
        : `burrow ${VERSION} (Node.js ${facts.node}, commit ${COMMIT})`;
    system.stdout.write(`${text}\n`);
    return EXIT.done;
  },
};
