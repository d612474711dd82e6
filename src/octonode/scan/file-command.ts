// How a file that is a node is started: by burrow itself, directly, or by the interpreter that its extension names.

import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';
import { extname } from 'node:path';
import type { NodeCommand } from '../node-command.ts';

/** The first word of a command that this binary runs; whatever is on PATH under that name is not asked. */
const OWN_NAME = 'burrow';
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

/** Whether the extension says that a file is a program. */
export function isProgramName(file: string): boolean {
  const extension = extname(file);
  return HOSTED.has(extension) || INTERPRETERS[extension] !== undefined;
}

/**
 * The command for the file at `path`, called `name` in it; undefined when nothing says how to start it. An executable
 * with a known extension but without `#!` goes to its interpreter: the system would take it for a shell script.
 */
export function commandOfFile(path: string, name: string): NodeCommand | undefined {
  const extension = extname(path);
  if (HOSTED.has(extension)) return [OWN_NAME, 'node', 'host', name];
  const interpreter = INTERPRETERS[extension];
  if (isExecutable(path) && (interpreter === undefined || beginsWithInterpreter(path)))
    return [name.includes('/') ? name : `./${name}`];
  return interpreter === undefined ? undefined : [interpreter, name];
}

/** The command as it is started: `own` starts this very program. */
export function runnableCommand(command: NodeCommand, own: readonly [string, ...string[]]): NodeCommand {
  const [file, ...args] = command;
  return file === OWN_NAME ? [...own, ...args] : command;
}

/** Whether burrow hosts the node, which then checks inputs and outputs itself. */
export function isHosted([file, first, second]: NodeCommand): boolean {
  return file === OWN_NAME && first === 'node' && second === 'host';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function beginsWithInterpreter(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // It can be executed and not read: the system alone can tell.
    return true;
  }
  try {
    const head = Buffer.alloc(2);
    readSync(fd, head, 0, 2, 0);
    return head.toString('latin1') === '#!';
  } finally {
    closeSync(fd);
  }
}
