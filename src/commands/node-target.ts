// Which program a `burrow node` command means: a command after `--`, a file, or the id of a node in `.octonode`.

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { NodeCommand } from '../octonode/octonode.ts';
import { findProject } from '../octonode/project/find-project.ts';
import { commandOfFile, runnableCommand } from '../octonode/scan/file-command.ts';
import { type Call, type Flag, nearest, UsageError } from './command.ts';
import { ownCommand } from './own-command.ts';
import { invalidProject, usableProject } from './project-problems.ts';

interface NodeTarget {
  command: NodeCommand;
  cwd: string;
  /** Which node of the program; undefined when it has but one. */
  node: string | undefined;
  /** Set for a node of a project whose `runtime` says so. */
  timeoutMs?: number | undefined;
  /** What its person configured, for `context.config`. */
  config?: unknown;
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

/** Throws UsageError when nothing, or nothing that exists, is named. */
export async function nodeTarget(call: Call): Promise<NodeTarget> {
  const { positionals, rest, flags, system } = call;
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
  const command = commandOf(name, system.cwd);
  if (command !== undefined) return { command, cwd: system.cwd, node };
  const recorded = await nodeOfProject(name, call);
  if (recorded !== undefined) return recorded;
  throw new UsageError(
    `"${name}" is neither a file nor a node of .octonode`,
    'A command stands after "--": burrow node run -- python3 greet.py',
  );
}

/** Undefined when there is no such file and the name does not look like one. */
function commandOf(file: string, cwd: string): NodeCommand | undefined {
  const path = resolve(cwd, file);
  const command = commandOfFile(path, file);
  if (command !== undefined) return runnableCommand(command, ownCommand());
  // The engine then says what the system says: EACCES, ENOENT.
  const exists = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return exists || file.includes('/') ? [path] : undefined;
}

/** The node of that id in the project around `cwd`, with the settings that its person wrote; undefined without one. */
async function nodeOfProject(id: string, { system, flags }: Call): Promise<NodeTarget | undefined> {
  const path = usableProject(findProject(system.cwd));
  if (path === undefined) return undefined;
  const {
    loadProject,
    commandOf: recordedCommand,
    findNode,
  } = await import('../octonode/project/project.ts');
  const loaded = await loadProject(path);
  if (loaded.status === 'invalid') throw invalidProject(loaded.path, loaded.problems);
  const entries = loaded.project.content.nodes ?? [];
  const entry = findNode(entries, id);
  if (entry === undefined) {
    const near = nearest(
      id,
      entries.map((node) => node.id),
    );
    throw new UsageError(
      `Node "${id}" is not in "${path}"`,
      near === undefined ? 'burrow scan records what is there' : `Did you mean "${near}"?`,
    );
  }
  const command = recordedCommand(entry.signature);
  if (command === undefined)
    throw new UsageError(`Node "${id}" has no command in "${path}"`, 'Record it: burrow scan');
  return {
    command: runnableCommand(command, ownCommand()),
    cwd: resolve(dirname(path), entry.signature?.cwd ?? '.'),
    node: typeof flags.node === 'string' ? flags.node : id,
    timeoutMs: entry.runtime?.timeout_ms,
    config: entry.presentation?.['config'],
  };
}
