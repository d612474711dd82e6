// The front door: finds the command that the arguments name, shows help, runs it, and turns every way it can end
// into an exit status and at most a few lines on stderr. No stack trace reaches a person.

import { stripVTControlCharacters } from 'node:util';
import { ERRORS, isBurrowError } from '../protocol/errors.ts';
import { VERSION } from '../version.ts';
import { type Command, nearest, parseCall, UsageError } from './command.ts';
import { EXIT, type System, usesColour } from './system.ts';
import { systemErrorSentence } from './system-error.ts';

export const burrow: Command = {
  meta: {
    name: 'burrow',
    version: VERSION,
    description: 'Run work on a host: safely, fast, with evidence of what happened',
  },
  examples: [
    { command: 'burrow exec -- uname -a', does: 'run one command through a private gateway' },
    {
      command: `printf '%s\\n' '{"id":"1","method":"hello"}' | burrow daemon`,
      does: 'speak the protocol over standard input',
    },
  ],
  subCommands: {
    exec: () => import('./exec.ts').then((module) => module.execCommand),
    fs: () => import('./fs.ts').then((module) => module.fsCommand),
    client: () => import('./client.ts').then((module) => module.clientCommand),
    controller: () => import('./controller.ts').then((module) => module.controllerCommand),
    daemon: () => import('./daemon.ts').then((module) => module.daemonCommand),
    host: () => import('./host.ts').then((module) => module.hostCommand),
    node: () => import('./node.ts').then((module) => module.nodeCommand),
    completion: () => import('./completion.ts').then((module) => module.createCompletionCommand(burrow)),
    scan: () => import('./scan.ts').then((module) => module.scanCommand),
    flow: () => import('./flow.ts').then((module) => module.flowCommand),
    version: () => import('./version.ts').then((module) => module.versionCommand),
  },
};

/** Runs the command that `args` name and answers its exit status; never throws. */
export async function runCli(args: readonly string[], system: System): Promise<number> {
  try {
    const own = args.filter((arg, index) => !isGlobalFlag(args, index, arg));
    // Not a copy: reading a stream of the system opens it.
    const world: System =
      own.length === args.length ? system : Object.create(system, { colourOff: { value: true } });
    return await dispatch({ command: burrow, path: [], args: own }, world);
  } catch (error) {
    return report(error, system);
  }
}

interface Position {
  command: Command;
  path: readonly Command[];
  args: readonly string[];
}

async function dispatch({ command, path, args }: Position, system: System): Promise<number> {
  const [word, ...others] = args;
  if (asksForHelp(command, args)) return help({ command, path, args }, system);
  if (word === '--version' && path.length === 0)
    return dispatch({ command, path, args: ['version', ...others] }, system);
  if (command.subCommands === undefined) {
    if (command.run === undefined) throw new Error(`Command "${command.meta.name}" cannot run`);
    return command.run(parseCall(command, args, system));
  }
  if (word === undefined) {
    await help({ command, path, args }, Object.create(system, { stdout: { value: system.stderr } }));
    return EXIT.usage;
  }
  const names = Object.keys(command.subCommands);
  const load = Object.hasOwn(command.subCommands, word) ? command.subCommands[word] : undefined;
  if (load === undefined) {
    const near = nearest(word, names);
    const whole = [...path, command].map((part) => part.meta.name).join(' ');
    throw new UsageError(
      `Command "${whole} ${word}" does not exist`,
      near === undefined ? `Commands: ${names.join(', ')}` : `Did you mean "${whole} ${near}"?`,
    );
  }
  return dispatch({ command: await load(), path: [...path, command], args: others }, system);
}

/** A group shows help for its own flag; a command for one anywhere before `--`, so that it can be added to a half-written line. */
function asksForHelp(command: Command, args: readonly string[]): boolean {
  const isHelp = (arg: string | undefined): boolean => arg === '--help' || arg === '-h';
  if (command.subCommands !== undefined) return isHelp(args[0]);
  const separator = args.indexOf('--');
  return args.slice(0, separator === -1 ? args.length : separator).some(isHelp);
}

async function help({ command, path }: Position, system: System): Promise<number> {
  const { renderHelp } = await import('./help.ts');
  const text = await renderHelp(command, path);
  system.stdout.write(usesColour(system) ? text : stripVTControlCharacters(text));
  return EXIT.done;
}

/** `--no-color` is taken by every command, before `--`. */
function isGlobalFlag(args: readonly string[], index: number, arg: string): boolean {
  const separator = args.indexOf('--');
  return arg === '--no-color' && (separator === -1 || index < separator);
}

function report(error: unknown, system: System): number {
  const say = (text: string): void => void system.stderr.write(`burrow: ${text}\n`);
  if (error instanceof UsageError) {
    say(error.message);
    say(error.hint ?? 'Add --help for the arguments and two examples');
    return EXIT.usage;
  }
  if (isBurrowError(error)) {
    say(`${error.message} (${error.code})`);
    say(ERRORS[error.code].remedy);
    return ERRORS[error.code].exitStatus;
  }
  const sentence = systemErrorSentence(error);
  if (sentence !== undefined) {
    say(sentence);
    return EXIT.failed;
  }
  // One of the three places where the unforeseen becomes `internal_error`.
  say(`${error instanceof Error ? error.message : String(error)} (internal_error)`);
  return EXIT.failed;
}
