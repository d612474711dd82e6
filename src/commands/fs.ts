// `burrow fs`: the seven filesystem tools with output for people; `--json` gives the outcome as the gateway answered it.

import type { Command } from './command.ts';

export const fsCommand: Command = {
  meta: { name: 'fs', description: 'Read, search and edit files through the gateway' },
  examples: [
    { command: 'burrow fs read /etc/hostname', does: 'print a file, byte for byte' },
    {
      command: "burrow fs search src 'deprecated'",
      does: 'print every line that holds it as path:line: text',
    },
  ],
  subCommands: {
    read: () => import('./fs-read.ts').then((module) => module.fsReadCommand),
    inspect: () => import('./fs-inspect.ts').then((module) => module.fsInspectCommand),
    list: () => import('./fs-list.ts').then((module) => module.fsListCommand),
    find: () => import('./fs-find.ts').then((module) => module.fsFindCommand),
    search: () => import('./fs-search.ts').then((module) => module.fsSearchCommand),
    write: () => import('./fs-write.ts').then((module) => module.fsWriteCommand),
    edit: () => import('./fs-edit.ts').then((module) => module.fsEditCommand),
  },
};
