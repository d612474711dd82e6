// `burrow fs search`: the lines that hold a text, as `path:line: text`, the match coloured on a terminal.

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
import { type System, usesColour } from './system.ts';

/** As grep(1) colours its matches: bold red. */
const MATCH_COLOUR = '\u001b[1;31m';
const PLAIN = '\u001b[0m';

const SearchSchema = v.looseObject({
  matches: v.array(v.looseObject({ filePath: v.string(), line: v.number(), text: v.string() })),
});

export const fsSearchCommand: Command = {
  meta: { name: 'search', description: 'Print the lines below a directory that hold a text' },
  args: {
    dir: { type: 'positional', description: 'The directory', valueHint: 'DIR' },
    query: { type: 'positional', description: 'The text, taken literally', valueHint: 'QUERY' },
    'max-matches': { type: 'string', valueHint: 'N', description: 'Most lines to print (default 200)' },
    ...TRAVERSAL_FLAGS,
    ...TOOL_FLAGS,
  },
  examples: [
    { command: "burrow fs search src 'a[0] ?? 1'", does: 'print path:line: text; nothing is a pattern' },
    { command: 'burrow fs search . -- --verbose', does: 'look for a text that begins with a dash' },
  ],
  async run(call) {
    const [dir, query = ''] = dashArguments(call, ['DIR', 'QUERY']);
    return runFileTool(call, {
      tool: 'files_search',
      arguments: {
        dirPath: pathArgument(call, dir),
        query,
        ...countArguments(call.flags, {
          depth: 'maxDepth',
          'max-matches': 'maxMatches',
          'max-traversal': 'maxTraversalEntries',
        }),
      },
      schema: SearchSchema,
      show: ({ matches }) =>
        matches
          .map(({ filePath, line, text }) => `${filePath}:${line}: ${text}`)
          .map((text) => `${mark(printable(call.system, text), query, call.system)}\n`)
          .join(''),
    });
  },
};

function mark(text: string, query: string, system: System): string {
  return usesColour(system) ? text.replaceAll(query, () => `${MATCH_COLOUR}${query}${PLAIN}`) : text;
}
