// One process of a node from its start until nothing of it is left: pipes ended, leader waited for, group empty.
// It keeps the last bytes of stderr, and ends the whole tree on demand; what the output means is its owner's business.

import { createTermination, type Termination } from '../process/kill-tree.ts';
import type { Child } from '../process/launcher.ts';
import { STDERR_TAIL_BYTES } from './limits.ts';
import type { ProcessSettings } from './node-command.ts';
import type { RequestLine } from './request.ts';

export interface ChildEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Set when the process could not be started. */
  errno: string | undefined;
  stderrTail: string;
}

interface ChildEvents {
  onStdout(chunk: Buffer): void;
  onStdoutEnd(): void;
  /** The leader ended; pipes and group may still live. */
  onExit(): void;
  /** The last event, exactly once, never before the start returned: nothing is left that could be reached. */
  onGone(end: ChildEnd): void;
}

export class SupervisedChild {
  readonly #settings: ProcessSettings;
  readonly #events: ChildEvents;
  readonly #child: Child | undefined;
  #termination: Termination | null = null;
  #stderrTail: Buffer = Buffer.alloc(0);
  #openPipes = 2;
  #hasExited = false;
  #isGone = false;
  #exitCode: number | null = null;
  #signal: NodeJS.Signals | null = null;

  constructor(settings: ProcessSettings, events: ChildEvents) {
    this.#settings = settings;
    this.#events = events;
    const [file, ...args] = settings.command;
    this.#child = settings.deps.launch(
      { file, args, cwd: settings.cwd, env: settings.env, stdin: 'pipe' },
      {
        onChunk: (stream, chunk) => (stream === 'stdout' ? events.onStdout(chunk) : this.#keepStderr(chunk)),
        onPipeEnd: (stream) => this.#pipeEnded(stream === 'stdout'),
        onExit: (exitCode, signal) => this.#exited(exitCode, signal),
        onFailed: (errno) => this.#gone(errno),
      },
    );
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Ignored when the process does not listen any more. */
  send(request: RequestLine): void {
    this.#child?.stdin?.write(request);
  }

  endInput(): void {
    this.#child?.stdin?.end();
  }

  /** SIGTERM to the tree, SIGKILL after a second; `onGone` follows shortly after that at the latest. */
  kill(): void {
    if (this.#isGone || this.#termination !== null || this.#child === undefined) return;
    const { clock, groups } = this.#settings.deps;
    const termination = createTermination(
      this.#child,
      { clock, groups },
      { onGroupGone() {}, onDone: () => this.#gone(undefined) },
    );
    this.#termination = termination;
    if (this.#openPipes === 0) termination.pipesClosed();
    if (this.#hasExited) termination.leaderExited();
    termination.start();
  }

  stderrTail(): string {
    return this.#settings.mask(this.#stderrTail.toString('utf8'));
  }

  #keepStderr(chunk: Buffer): void {
    this.#settings.onStderr(chunk);
    const tail = this.#stderrTail;
    const surplusBytes = Math.max(0, tail.length + chunk.length - STDERR_TAIL_BYTES);
    // Always a copy: a view would keep the whole chunk alive.
    this.#stderrTail = Buffer.concat([
      tail.subarray(surplusBytes),
      chunk.subarray(Math.max(0, surplusBytes - tail.length)),
    ]);
  }

  #pipeEnded(isStdout: boolean): void {
    this.#openPipes -= 1;
    if (isStdout) this.#events.onStdoutEnd();
    if (this.#openPipes > 0) return;
    if (this.#termination !== null) this.#termination.pipesClosed();
    else this.#finishIfQuiet();
  }

  #exited(exitCode: number | null, signal: NodeJS.Signals | null): void {
    this.#hasExited = true;
    this.#exitCode = exitCode;
    this.#signal = signal;
    this.#events.onExit();
    if (this.#termination !== null) this.#termination.leaderExited();
    else this.#finishIfQuiet();
  }

  /** A background process that let go of the pipes is still there: it goes too. */
  #finishIfQuiet(): void {
    if (!this.#hasExited || this.#openPipes > 0 || this.#child === undefined) return;
    if (isGroupThere(this.#child.pid)) this.kill();
    else this.#gone(undefined);
  }

  #gone(errno: string | undefined): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#termination?.close();
    if (this.#openPipes > 0) this.#child?.closePipes();
    this.#events.onGone({
      exitCode: this.#exitCode,
      signal: this.#signal,
      errno,
      stderrTail: this.stderrTail(),
    });
  }
}

/** Signal 0 reaches nobody, so a stranger's group under this number is only asked, and costs no more than a look at the table. */
function isGroupThere(groupId: number): boolean {
  try {
    return process.kill(-groupId, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
