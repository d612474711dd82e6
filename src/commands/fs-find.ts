// `burrow fs find`: the paths that match a pattern, one a line, relative to the directory.

import * as v from 'valibot';
import type { Command } from './command.ts';
import {
  countArguments,
  dashArguments,
  pathArgument,
  printable,
  runFileTool,
  TOOL_FLAGS,
  TRAVERSAL_FLAGS,
} from './fs-tool.ts';

const FindSchema = v.looseObject({ paths: v.array(v.string()) });

export const fsFindCommand: Command = {
  meta: { name: 'find', description: 'Print the paths below a directory that match a pattern' },
  args: {
    dir: { type: 'positional', description: 'The directory', valueHint: 'DIR' },
    pattern: {
      type: 'positional',
      description: 'Whole relative path; * and ? stop at /, ** does not, the rest is literal',
      valueHint: 'PATTERN',
    },
    'max-entries': { type: 'string', valueHint: 'N', description: 'Most paths to print (default 500)' },
    ...TRAVERSAL_FLAGS,
    ...TOOL_FLAGS,
  },
  examples: [
    { command: "burrow fs find . '**/*.ts'", does: 'print every TypeScript file, relative to the directory' },
    { command: "burrow fs find /srv -- '-draft*'", does: 'look for a name that begins with a dash' },
  ],
  async run(call) {
    const [dir, pattern] = dashArguments(call, ['DIR', 'PATTERN']);
    return runFileTool(call, {
      tool: 'files_find',
      arguments: {
        dirPath: pathArgument(call, dir),
        pattern,
        ...countArguments(call.flags, {
          depth: 'maxDepth',
          'max-entries': 'maxEntries',
          'max-traversal': 'maxTraversalEntries',
        }),
      },
      schema: FindSchema,
      show: ({ paths }) => paths.map((path) => `${printable(call.system, path)}\n`).join(''),
    });
  },
};
