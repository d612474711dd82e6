// `burrow fs inspect`: what a path is, one field a line. A path that does not exist is an answer.

import * as v from 'valibot';
import { formatSizeBytes } from '../support/durations.ts';
import type { Command } from './command.ts';
import { pathArgument, printable, runFileTool, TOOL_FLAGS } from './fs-tool.ts';
import type { System } from './system.ts';

const InspectSchema = v.looseObject({
  path: v.string(),
  exists: v.boolean(),
  type: v.nullable(v.string()),
  size: v.nullable(v.number()),
  modifiedAt: v.nullable(v.string()),
  symlinkTarget: v.nullable(v.string()),
});

export const fsInspectCommand: Command = {
  meta: { name: 'inspect', description: 'Print type, size and time of a path; a symlink is not followed' },
  args: { path: { type: 'positional', description: 'The path', valueHint: 'PATH' }, ...TOOL_FLAGS },
  examples: [
    { command: 'burrow fs inspect /etc/hostname', does: 'print one field a line' },
    { command: 'burrow fs inspect /nope --json', does: 'print the outcome: {"exists":false, …}, exit 0' },
  ],
  run: (call) =>
    runFileTool(call, {
      tool: 'files_inspect',
      arguments: { path: pathArgument(call, call.positionals[0]) },
      schema: InspectSchema,
      show: (outcome) => fieldLines(call.system, outcome),
    }),
};

function fieldLines(system: System, outcome: v.InferOutput<typeof InspectSchema>): string {
  const { path, exists, type, size, modifiedAt, symlinkTarget } = outcome;
  const fields = {
    path,
    exists: exists ? 'yes' : 'no',
    type,
    size: size === null ? null : size < 1024 ? `${size} B` : `${size} B (${formatSizeBytes(size)})`,
    modified: modifiedAt,
    target: symlinkTarget,
  };
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null);
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, text]) => `${name.padEnd(width)}  ${printable(system, text)}\n`).join('');
}
