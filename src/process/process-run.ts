// One process from its start to its end: what happened so far, and which of the rules ends it. See process.ts for what is
// promised. The parts know their own business (capture, termination, linger watch); here they meet.

import { KILL_SETTLE_MS } from '../protocol/defaults.ts';
import type { BurrowError } from '../protocol/errors.ts';
import type { ProcessEvidence } from '../protocol/evidence.ts';
import type { Clock, Timer } from '../support/clock.ts';
import { type ByteFilter, type Capture, createCapture } from './capture.ts';
import { diagnoseFailedStart, type FailedStart } from './diagnose.ts';
import { createEvidence, type Ending, type EvidenceIdentity, type StopReason } from './evidence.ts';
import { createTermination, type Termination } from './kill-tree.ts';
import type { Child, Launch, LaunchEvents, OutputStream } from './launcher.ts';
import { createLingerWatch, type LingerWatch } from './linger-watch.ts';
import type { LingeringChildren } from './lingering.ts';
import type { ProcessGroups } from './process-groups.ts';
import type { DecodedText } from './text-decoder.ts';

/** After its group is gone, the rest in a child's pipes is read even when the reader is held back: at most this much. */
const MAX_DRAIN_BYTES = 1024 * 1024;

const SHELL = '/bin/sh';

export interface ProcessRequest {
  mode: 'exec' | 'shell';
  /** Mode exec. */
  executable: string | null;
  args: readonly string[];
  /** Mode shell: given to /bin/sh -c. */
  command: string | null;
  /** Absolute. */
  cwd: string;
  /** The whole environment of the child. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Wall clock, milliseconds since the epoch. Compared once, at the start; from then on the monotonic clock counts. */
  deadlineMs: number | null;
  /** Cap on the delivered UTF-8 of both streams together. */
  maxOutputBytes: number;
}

export interface ProcessEvents {
  onStarted(): void;
  /** `truncated` is true once, with the last part that fits (which may be empty). */
  onStream(event: { stream: OutputStream; text: DecodedText; truncated: boolean }): void;
  onEnd(evidence: ProcessEvidence): void;
  /** `spawn_failed` or `cwd_invalid`: nothing was started, nothing else is called. */
  onRefused(error: BurrowError): void;
}

export interface RunningProcess {
  /** May be called at any time, any number of times. */
  cancel(): void;
  /** Cancels without the grace: SIGKILL at once. May be called after `cancel`, any number of times. */
  kill(): void;
  /** Stops reading the output, so that the child is slowed by its full pipes. */
  pause(): void;
  resume(): void;
}

export interface ProcessDeps {
  launch: Launch;
  clock: Clock;
  identity: EvidenceIdentity;
  groups: ProcessGroups;
  lingering: LingeringChildren;
  /** Per operation: changes the bytes of a stream before anything else sees them. */
  createFilter?: (stream: OutputStream) => ByteFilter;
}

export class ProcessRun implements RunningProcess, LaunchEvents {
  readonly #request: ProcessRequest;
  readonly #events: ProcessEvents;
  readonly #deps: ProcessDeps;
  readonly #startedAtMs: number;
  readonly #startedAtWallMs: number;
  readonly #capture: Capture;
  #child: Child | null = null;
  #termination: Termination | null = null;
  #limit: Timer | null = null;
  #linger: LingerWatch | null = null;
  #stopReason: StopReason | null = null;
  #exit: Ending['exit'] = null;
  #openPipes = 2;
  #isPaused = false;
  #drainedBytes = -1;
  #isSettled = false;

  constructor(request: ProcessRequest, events: ProcessEvents, deps: ProcessDeps) {
    this.#request = request;
    this.#events = events;
    this.#deps = deps;
    this.#startedAtMs = deps.clock.monotonicMs();
    this.#startedAtWallMs = deps.clock.wallMs();
    this.#capture = createCapture(
      { maxOutputBytes: request.maxOutputBytes, createFilter: deps.createFilter },
      {
        onText: (stream, text, truncated) => events.onStream({ stream, text, truncated }),
        onOverflow: () => this.#overflow(),
      },
    );
  }

  start(): void {
    const { timeoutMs, deadlineMs } = this.#request;
    const untilDeadlineMs =
      deadlineMs === null ? Number.POSITIVE_INFINITY : deadlineMs - this.#startedAtWallMs;
    if (untilDeadlineMs <= 0) {
      this.#endUnstarted();
      return;
    }
    const file = startOf(this.#request);
    const child = this.#deps.launch({ ...file, stdin: 'null' }, this);
    if (child === undefined) return;
    this.#child = child;
    this.#termination = createTermination(child, this.#deps, {
      onGroupGone: () => this.#drain(),
      onDone: () => this.#settle(),
    });
    const reason = untilDeadlineMs < timeoutMs ? 'deadlineMs' : 'timeoutMs';
    this.#limit = this.#deps.clock.startTimer(Math.min(timeoutMs, untilDeadlineMs), () =>
      this.#runOut(reason),
    );
    this.#events.onStarted();
  }

  cancel(): void {
    this.#stop('cancelled');
  }

  kill(): void {
    this.#stop('cancelled');
    this.#termination?.kill();
  }

  pause(): void {
    if (this.#isPaused || this.#isReadingOn() || this.#isSettled) return;
    this.#isPaused = true;
    this.#child?.pause();
    this.#linger?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#child?.resume();
    this.#linger?.resume();
  }

  onChunk(stream: OutputStream, chunk: Buffer): void {
    this.#linger?.touch();
    if (this.#drainedBytes >= 0) this.#drainedBytes += chunk.length;
    this.#capture.push(stream, chunk);
    if (this.#capture.hasOverflowed) return;
    if (this.#drainedBytes > MAX_DRAIN_BYTES) this.#child?.pause();
  }

  onPipeEnd(stream: OutputStream): void {
    this.#openPipes -= 1;
    this.#capture.end(stream);
    if (this.#openPipes > 0) return;
    this.#termination?.pipesClosed();
    // A stopped process is over when its whole group is: the termination says when.
    if (this.#exit !== null && this.#stopReason === null) this.#settle();
  }

  onExit(exitCode: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isSettled) return;
    this.#exit = { exitCode, signal };
    this.#termination?.leaderExited();
    if (this.#stopReason !== null) return;
    if (this.#openPipes === 0) this.#settle();
    else this.#linger = createLingerWatch(this.#deps.clock, this.#isPaused, () => this.#settle());
  }

  onFailed(errno: string): void {
    this.#events.onRefused(diagnoseFailedStart(startOf(this.#request), errno));
  }

  /** The output is read whatever the reader says: after an overflow, and once the rest is bounded. */
  #isReadingOn(): boolean {
    return this.#drainedBytes >= 0 || this.#capture.hasOverflowed;
  }

  #runOut(reason: StopReason): void {
    if (this.#exit === null) {
      this.#stop(reason);
      return;
    }
    // The main process ended in time: only what it left behind is waited for, and that is not worth any more of it.
    this.#drain();
    this.#limit = this.#deps.clock.startTimer(KILL_SETTLE_MS, () => this.#settle());
  }

  #stop(reason: StopReason): void {
    if (this.#stopReason !== null || this.#isSettled || this.#termination === null) return;
    this.#stopReason = reason;
    this.#limit?.cancel();
    this.#linger?.close();
    this.#linger = null;
    this.#termination.start();
  }

  #overflow(): void {
    this.resume();
    this.#termination?.terminate();
  }

  #drain(): void {
    this.resume();
    this.#drainedBytes = 0;
  }

  #endUnstarted(): void {
    this.#stopReason = 'deadlineMs';
    process.nextTick(() => {
      this.#events.onStarted();
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#limit?.cancel();
    this.#linger?.close();
    this.#termination?.close();
    this.#capture.end('stdout');
    this.#capture.end('stderr');
    const isLingering = this.#child !== null && this.#openPipes > 0;
    if (isLingering && this.#child !== null) this.#deps.lingering.add(this.#child);
    this.#events.onEnd(createEvidence(this.#request, this.#readEnding(isLingering), this.#deps.identity));
  }

  #readEnding(isLingering: boolean): Ending {
    const { clock } = this.#deps;
    return {
      startedAtWallMs: this.#startedAtWallMs,
      endedAtWallMs: clock.wallMs(),
      durationMs: clock.monotonicMs() - this.#startedAtMs,
      exit: this.#exit,
      stopReason: this.#stopReason,
      wasSignalled: this.#termination?.wasSignalled ?? false,
      hasOverflowed: this.#capture.hasOverflowed,
      isLingering,
      stdout: this.#capture.read('stdout'),
      stderr: this.#capture.read('stderr'),
    };
  }
}

function startOf({ mode, executable, command, args, cwd, env }: ProcessRequest): FailedStart {
  if (mode === 'shell') return { file: SHELL, args: ['-c', command ?? ''], cwd, env };
  return { file: executable ?? '', args, cwd, env };
}
