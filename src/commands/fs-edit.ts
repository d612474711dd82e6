// `burrow fs edit`: replaces the one place where a text occurs in a file, and nothing else of it.

import * as v from 'valibot';
import { type Call, type Command, UsageError } from './command.ts';
import { pathArgument, printable, runFileTool, TOOL_FLAGS } from './fs-tool.ts';

const EditSchema = v.looseObject({ filePath: v.string() });

export const fsEditCommand: Command = {
  meta: { name: 'edit', description: 'Replace a text that occurs exactly once in a file' },
  args: {
    file: { type: 'positional', description: 'The file', valueHint: 'FILE' },
    old: { type: 'string', valueHint: 'S', description: 'The text to replace, exactly as it stands there' },
    new: {
      type: 'string',
      valueHint: 'S',
      mayBeEmpty: true,
      description: 'The text to put there, taken literally',
    },
    ...TOOL_FLAGS,
  },
  examples: [
    { command: "burrow fs edit app.conf --old 'port 80' --new 'port 8080'", does: 'change one place' },
    { command: 'burrow fs edit list.md --old=-draft --new=', does: 'remove a text that begins with a dash' },
  ],
  run: async (call) =>
    runFileTool(call, {
      tool: 'files_edit',
      arguments: {
        filePath: pathArgument(call, call.positionals[0]),
        oldText: textFlag(call.flags, 'old'),
        newText: textFlag(call.flags, 'new'),
      },
      schema: EditSchema,
      show: ({ filePath }) => `Edited ${printable(call.system, filePath)}\n`,
    }),
};

function textFlag(flags: Call['flags'], name: string): string {
  const text = flags[name];
  if (typeof text === 'string') return text;
  throw new UsageError(`Flag "--${name}" is missing`);
}
