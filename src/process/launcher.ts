// The only file that starts a child. It knows pids, bytes and signals, and nothing of operations, text or time,
// so that another launcher can take its place without the rest of `process` or `octonode` noticing.

export type OutputStream = 'stdout' | 'stderr';

export interface LaunchRequest {
  /** Looked up on the PATH of `env` when it holds no slash. */
  file: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment of the child; nothing is added. */
  env: Readonly<Record<string, string>>;
  /** `null`: /dev/null. `pipe`: the caller feeds `child.stdin`. */
  stdin: 'null' | 'pipe';
}

/** Called in order: chunks, then `onPipeEnd` per stream; `onExit` comes when the process was waited for, in any order to the pipes. */
export interface LaunchEvents {
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
  /** Called at most once, when the child closed its end early (EPIPE). */
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
  /** Closes our ends of the pipes; no event comes from them any more. */
  closePipes(): void;
  /** Keeps reading and discarding both pipes until they end, without keeping this process alive. */
  discardOutput(): void;
}

/** Starts a process in a session of its own. Undefined when it could not start: `onFailed` follows. */
export type Launch = (request: LaunchRequest, events: LaunchEvents) => Child | undefined;
