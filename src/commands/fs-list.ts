// `burrow fs list`: a directory as a tree. Directories end in `/`, symlinks in `@`.

import * as v from 'valibot';
import type { Command } from './command.ts';
import { countArguments, pathArgument, printable, runFileTool, TOOL_FLAGS } from './fs-tool.ts';

const ListSchema = v.looseObject({
  dirPath: v.string(),
  entries: v.array(v.looseObject({ path: v.string(), type: v.string() })),
});

type Entry = v.InferOutput<typeof ListSchema>['entries'][number];

export const fsListCommand: Command = {
  meta: {
    name: 'list',
    description: 'Print a directory as a tree; dot-entries and node_modules are left out',
  },
  args: {
    dir: { type: 'positional', description: 'The directory', valueHint: 'DIR' },
    depth: { type: 'string', valueHint: 'N', description: 'Levels below the first to enter (default 4)' },
    'max-entries': { type: 'string', valueHint: 'N', description: 'Most entries to list (default 500)' },
    ...TOOL_FLAGS,
  },
  examples: [
    { command: 'burrow fs list /srv/app', does: 'print the tree; what was left out is said on stderr' },
    { command: 'burrow fs list . --depth 1 --json', does: 'print the outcome with types' },
  ],
  run: (call) =>
    runFileTool(call, {
      tool: 'files_list',
      arguments: {
        dirPath: pathArgument(call, call.positionals[0]),
        ...countArguments(call.flags, { depth: 'maxDepth', 'max-entries': 'maxEntries' }),
      },
      schema: ListSchema,
      show: ({ dirPath, entries }) =>
        `${printable(call.system, dirPath)}\n${treeLines(entries, (name) => printable(call.system, name))}`,
    }),
};

interface Branch {
  entry: Entry;
  name: string;
  children: Branch[];
}

/** Entries come with each directory before its content. */
export function treeLines(entries: readonly Entry[], show: (name: string) => string): string {
  const roots: Branch[] = [];
  const byPath = new Map<string, Branch>();
  for (const entry of entries) {
    const slash = entry.path.lastIndexOf('/');
    const branch: Branch = { entry, name: entry.path.slice(slash + 1), children: [] };
    byPath.set(entry.path, branch);
    (byPath.get(entry.path.slice(0, Math.max(0, slash)))?.children ?? roots).push(branch);
  }
  const lines: string[] = [];
  addLines(roots, '', show, lines);
  return lines.join('');
}

function addLines(
  branches: readonly Branch[],
  indent: string,
  show: (name: string) => string,
  lines: string[],
): void {
  for (const [index, { entry, name, children }] of branches.entries()) {
    const isLast = index === branches.length - 1;
    lines.push(`${indent}${isLast ? '└── ' : '├── '}${show(name)}${markOf(entry.type)}\n`);
    addLines(children, `${indent}${isLast ? '    ' : '│   '}`, show, lines);
  }
}

function markOf(type: string): string {
  if (type === 'directory') return '/';
  if (type === 'symlink') return '@';
  return type === 'file' ? '' : ' (special)';
}
