// The world as a command sees it. `main.ts` hands in the real one; nothing below the commands knows it.

import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { BurrowError } from '../protocol/errors.ts';
import type { Clock } from '../support/clock.ts';

/** Streams of a terminal say so; `columns` is its width. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

export interface System {
  env: Readonly<Record<string, string | undefined>>;
  /** Asked for by what needs it and by nothing else. Throws as `currentDirectory` does. */
  readonly cwd: string;
  stdin: Readable & { isTTY?: boolean };
  stdout: OutputStream;
  stderr: OutputStream;
  /** Nobody reads stdout: what is queued there is lost, and the end does not wait for it. */
  abandonStdout(): void;
  clock: Clock;
  /** The flag `--no-color` was given. */
  colourOff?: boolean;
  /** Calls `handler` for each such signal until the answer is called. */
  onSignal(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', handler: () => void): () => void;
}

/**
 * Of this process. Throws `working_directory_missing` when it was removed, and `working_directory_not_text` when no text names
 * it: in another one in its place, a command would run where nobody meant it to.
 */
export function currentDirectory(): string {
  const path = readCurrentDirectory();
  // Node.js puts U+FFFD for bytes that are not UTF-8; a name may also hold it in earnest.
  if (path.includes('\ufffd') && !isCurrentDirectory(path))
    throw new BurrowError('working_directory_not_text');
  return path;
}

function readCurrentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new BurrowError('working_directory_missing', {}, error);
  }
}

function isCurrentDirectory(path: string): boolean {
  const here = statSync('.', { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.dev === here.dev && named.ino === here.ino;
}

/** Colours are for terminals, and not where NO_COLOR or `--no-color` says otherwise. */
export function usesColour(system: System): boolean {
  return system.colourOff !== true && system.stdout.isTTY === true && (system.env['NO_COLOR'] ?? '') === '';
}

/** Exit statuses that scripts rely on (docs and `--help` name them). */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  configuration: 78,
  timedOut: 124,
  unreachable: 125,
  notExecutable: 126,
  notFound: 127,
  interrupted: 130,
} as const;
