// The only file that starts a child. It knows pids, bytes and signals, and nothing of operations, text or time,
// so that another launcher can take its place without the rest of `process` or `octonode` noticing.
// It never throws for what the operating system refuses, and no error of a pipe ever gets out of it.

import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { loadChildProcess } from '../support/builtins.ts';
import { releaseBytes } from '../support/release-bytes.ts';

export type OutputStream = 'stdout' | 'stderr';

export interface LaunchRequest {
  /** Looked up on the PATH of `env` when it holds no slash. */
  file: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment of the child; nothing is added. Cheapest when it has no prototype: it is then not copied. */
  env: Readonly<Record<string, string>>;
  /** `null`: /dev/null. `pipe`: the caller feeds `child.stdin`. */
  stdin: 'null' | 'pipe';
}

/** Called in order: chunks, then `onPipeEnd` per stream; `onExit` comes when the process was waited for, in any order to the pipes. */
export interface LaunchEvents {
  /** The chunk is the receiver's to keep, or to give back with `releaseBytes`. */
  onChunk(stream: OutputStream, chunk: Buffer): void;
  onPipeEnd(stream: OutputStream): void;
  onExit(exitCode: number | null, signal: NodeJS.Signals | null): void;
  /** The process was never started (errno such as ENOENT, EACCES, E2BIG). Nothing else is called. Comes after `launch` returned. */
  onFailed(errno: string): void;
}

export interface ChildInput {
  /** False when the caller should wait for `onDrain`. Writing after the child closed its end is ignored. */
  write(bytes: Uint8Array | string): boolean;
  end(): void;
  onDrain(callback: () => void): void;
  /** Called at most once, when the child closed its end early (EPIPE) or ended before all was written. */
  onClosed(callback: () => void): void;
}

export interface Child {
  /** Also the id of its session and process group. */
  readonly pid: number;
  readonly stdin: ChildInput | null;
  /** Stops reading both output pipes: the child blocks once a pipe is full. */
  pause(): void;
  resume(): void;
  /** Signals the process alone; false when it was already waited for. */
  signal(signal: NodeJS.Signals): boolean;
  /** Signals the process and its whole group; false when the process was already waited for: its number may be another's. */
  signalGroup(signal: NodeJS.Signals): boolean;
  /** Closes our ends of the pipes; no event comes from them any more. */
  closePipes(): void;
  /** Keeps reading and discarding both pipes until they end, without keeping this process alive. Then `onEnded`, once. */
  discardOutput(onEnded: () => void): void;
}

/** Starts a process in a session of its own. Undefined when it could not start: `onFailed` follows. */
export type Launch = (request: LaunchRequest, events: LaunchEvents) => Child | undefined;

/** More descriptors than one start needs: two socket pairs, a pipe for the result of exec, and /dev/null. */
const DESCRIPTORS_PER_START = 10;

/** The launcher that stands on Node's own spawn. */
export const launchWithNode: Launch = createNodeLaunch();

function createNodeLaunch(): Launch {
  // A spawn that fails with EMFILE leaks its pipes in Node, so that a program once out of descriptors would stay so. After
  // the first such failure a start is only tried when it cannot fail that way.
  let hasRunOut = false;
  const fail = (events: LaunchEvents, error: unknown): void => {
    const errno = errnoOf(error);
    hasRunOut ||= errno === 'EMFILE' || errno === 'ENFILE';
    events.onFailed(errno);
  };
  return (request, events) => {
    let child: ChildProcess;
    try {
      if (hasRunOut) probeDescriptors();
      child = startChild(request);
    } catch (error) {
      // Node throws for most errnos and for arguments it refuses itself (a zero byte); for a handful it emits 'error'.
      process.nextTick(fail, events, error);
      return undefined;
    }
    if (child.pid === undefined) {
      child.on('error', (error) => fail(events, error));
      return undefined;
    }
    // A kill that is not permitted comes as 'error' too; its sender already learned it from the false it got.
    child.on('error', ignore);
    return new NodeChild(child, child.pid, events);
  };
}

function startChild({ file, args, cwd, env, stdin }: LaunchRequest): ChildProcess {
  return loadChildProcess().spawn(file, args, {
    cwd,
    env: ownEntries(env),
    detached: true,
    stdio: [stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
}

/** Throws EMFILE or ENFILE unless one start's worth of descriptors is free. */
function probeDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS_PER_START) opened.push(openSync('/dev/null', 'r'));
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Owns the two output pipes of a started process. */
class NodeChild implements Child {
  readonly pid: number;
  readonly stdin: ChildInput | null;
  readonly #child: ChildProcess;
  readonly #stdout: Socket;
  readonly #stderr: Socket;
  #receiver: LaunchEvents | null;
  #onDiscarded: (() => void) | null = null;
  #openPipes = 2;
  #isPaused = false;

  constructor(child: ChildProcess, pid: number, events: LaunchEvents) {
    this.pid = pid;
    this.#child = child;
    this.#receiver = events;
    // What Node types as plain streams are sockets here: it makes its pipes from socket pairs. Both exist, for stdio asks for them.
    this.#stdout = child.stdout as Socket;
    this.#stderr = child.stderr as Socket;
    this.stdin = child.stdin === null ? null : createChildInput(child.stdin as Socket);
    this.#listen(this.#stdout, 'stdout');
    this.#listen(this.#stderr, 'stderr');
    child.on('exit', (exitCode, signal) => {
      // Node resumes all pipes two ticks after an exit (flushStdio), which would undo a pause.
      if (this.#isPaused) process.nextTick(() => process.nextTick(() => this.#holdPipes()));
      events.onExit(exitCode, signal);
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#holdPipes();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#stdout.resume();
    this.#stderr.resume();
  }

  signal(signal: NodeJS.Signals): boolean {
    return this.#child.kill(signal);
  }

  signalGroup(signal: NodeJS.Signals): boolean {
    const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
    return !hasEnded && signalNumber(-this.pid, signal);
  }

  closePipes(): void {
    this.#receiver = null;
    this.#stdout.destroy();
    this.#stderr.destroy();
  }

  discardOutput(onEnded: () => void): void {
    this.#receiver = null;
    this.#onDiscarded = onEnded;
    this.#isPaused = false;
    this.#stdout.resume().unref();
    this.#stderr.resume().unref();
    this.#child.unref();
    if (this.#openPipes === 0) onEnded();
  }

  #listen(pipe: Socket, stream: OutputStream): void {
    let isOpen = true;
    const end = (): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#openPipes -= 1;
      this.#receiver?.onPipeEnd(stream);
      if (this.#openPipes === 0) this.#onDiscarded?.();
    };
    pipe.on('data', (chunk: Buffer) => {
      if (this.#receiver === null) releaseBytes(chunk);
      else this.#receiver.onChunk(stream, chunk);
    });
    pipe.on('end', end);
    pipe.on('error', end);
  }

  #holdPipes(): void {
    if (!this.#isPaused) return;
    this.#stdout.pause();
    this.#stderr.pause();
  }
}

function createChildInput(pipe: Socket): ChildInput {
  let isClosed = false;
  let onClosed: (() => void) | null = null;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    if (!pipe.writableFinished) onClosed?.();
  };
  pipe.on('error', close);
  pipe.on('close', close);
  return {
    write: (bytes) => isClosed || pipe.writableEnded || pipe.write(bytes),
    end() {
      if (!isClosed) pipe.end();
    },
    onDrain: (callback) => void pipe.on('drain', callback),
    onClosed(callback) {
      onClosed = callback;
    },
  };
}

function signalNumber(number: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(number, signal);
  } catch {
    // ESRCH, or EPERM when the whole group runs as another user: nothing took the signal.
    return false;
  }
}

/** Node passes inherited entries of `env` on to the child, so an object with a prototype is copied first. */
function ownEntries(env: Readonly<Record<string, string>>): Record<string, string> {
  if (Object.getPrototypeOf(env) === null) return env;
  return Object.assign(Object.create(null), env);
}

function errnoOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Node's own refusals have codes such as ERR_INVALID_ARG_VALUE; the system call would have said EINVAL.
  return typeof code === 'string' && !code.startsWith('ERR_') ? code : 'EINVAL';
}

function ignore(): void {}
