// Which program a `burrow node` command means: a command after `--`, a file, or the id of a node in `.octonode`.

import { accessSync, constants, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { isSea } from 'node:sea';
import type { NodeCommand } from '../octonode/octonode.ts';
import { type Call, type Flag, UsageError } from './command.ts';

interface NodeTarget {
  command: NodeCommand;
  cwd: string;
  /** Which node of the program; undefined when it has but one. */
  node: string | undefined;
}

export const TARGET_ARGS: Record<string, Flag> = {
  target: {
    type: 'positional',
    description: 'A file, or the id of a node in .octonode',
    required: false,
    valueHint: 'FILE|ID',
  },
  node: {
    type: 'string',
    valueHint: 'NAME',
    description: 'Which node of the file; service.method for a method',
  },
  timeout: {
    type: 'string',
    valueHint: '30s',
    description: 'End the node after this long (default 30s): 500ms, 30s, 5m',
  },
};

/** Files that burrow runs itself. */
const HOSTED = new Set(['.ts', '.mts', '.js', '.mjs', '.cjs']);
const INTERPRETERS: Readonly<Record<string, string>> = {
  '.py': 'python3',
  '.sh': 'sh',
  '.pl': 'perl',
  '.tcl': 'tclsh',
  '.rb': 'ruby',
  '.php': 'php',
  '.lua': 'lua',
};

/** Throws UsageError when nothing, or nothing that exists, is named. */
export function nodeTarget({ positionals, rest, flags, system }: Call): NodeTarget {
  const node = typeof flags.node === 'string' ? flags.node : undefined;
  const [name] = positionals;
  if (rest !== undefined) {
    const [file, ...args] = rest;
    if (name !== undefined) throw new UsageError(`Both "${name}" and a command after "--" are given`);
    if (file === undefined) throw new UsageError('No command is given after "--"');
    return { command: [file, ...args], cwd: system.cwd, node };
  }
  if (name === undefined)
    throw new UsageError('No node is given', 'Name a file, an id of .octonode, or a command after "--"');
  const command = commandOfFile(name, system.cwd);
  if (command !== undefined) return { command, cwd: system.cwd, node };
  throw new UsageError(
    `"${name}" is neither a file nor a node of .octonode`,
    'A command stands after "--": burrow node run -- python3 greet.py',
  );
}

/** Undefined when there is no such file and the name does not look like one. */
function commandOfFile(file: string, cwd: string): NodeCommand | undefined {
  const path = resolve(cwd, file);
  const extension = extname(file);
  const exists = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (HOSTED.has(extension)) return [...ownCommand(), 'node', 'host', file];
  const interpreter = INTERPRETERS[extension];
  if (exists && isExecutable(path)) return [path];
  if (interpreter !== undefined) return [interpreter, file];
  // The engine then says what the system says: EACCES, ENOENT.
  return exists || file.includes('/') ? [path] : undefined;
}

/** How this very program is started again. */
function ownCommand(): [string, ...string[]] {
  const script = process.argv[1];
  return isSea() || script === undefined ? [process.execPath] : [process.execPath, script];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
