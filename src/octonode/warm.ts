// One-shot isolation without its start-up: the next process is started ahead and waits on its stdin for the request.
// At most `processes` of them wait. One that dies waiting is replaced, later each time; when none is ready, a call
// starts its own. Nothing waits longer than `idleMs` after the last call.

import type { Timer } from '../support/clock.ts';
import type { ManifestEnvelope, ResultEnvelope } from './envelopes.ts';
import { type Asked, failureEnvelope, refusedFailure } from './failures.ts';
import {
  DEFAULT_IDLE_MS,
  DEFAULT_WARM_PROCESSES,
  FIRST_RESTART_DELAY_MS,
  MAX_QUICK_DEATHS,
  MAX_WARM_PROCESSES,
  WARM_REPLENISH_DELAY_MS,
} from './limits.ts';
import {
  type NodeCommand,
  type NodeProcessOptions,
  type ProcessSettings,
  processSettings,
  timeLeftMs,
} from './node-command.ts';
import { OneShotProcess } from './one-shot.ts';
import {
  type Ask,
  type CallOptions,
  describeThrough,
  type InvokeCallOptions,
  invokeThrough,
} from './request.ts';

export interface WarmOptions extends NodeProcessOptions {
  /** How many processes wait ahead: 1 to 32, default 1. */
  processes?: number;
  /** Waiting processes end this long after the last call; the next call starts them again. Default 60 s. */
  idleMs?: number;
}

export interface WarmNode {
  /** As `invokeNode`. */
  invoke(inputs: unknown, options?: InvokeCallOptions): Promise<ResultEnvelope>;
  describe(options?: CallOptions): Promise<ManifestEnvelope>;
  /** Processes that wait for a request now. */
  readonly waiting: number;
  /** Refuses new calls, lets running ones end, ends what waits. May be called again. */
  close(): Promise<void>;
}

/** A node with processes started ahead; the first of them now. */
export function createWarmNode(command: NodeCommand, options: WarmOptions): WarmNode {
  const settings = processSettings(command, options);
  const pool = new WarmPool(settings, options);
  pool.replenish();
  const askWith =
    (call: InvokeCallOptions): Ask =>
    ({ asked, line }) =>
      pool.ask(asked, (process) =>
        process.ask({
          asked,
          line,
          timeoutMs: timeLeftMs(settings.deps.clock, call.timeoutMs, call.context?.deadlineMs),
          signal: call.signal,
        }),
      );
  return {
    invoke: (inputs, call = {}) => invokeThrough(settings, inputs, call, askWith(call)),
    describe: (call = {}) => describeThrough(settings, call, askWith(call)),
    get waiting() {
      return pool.waiting;
    },
    close: () => pool.close(),
  };
}

interface Waiting {
  process: OneShotProcess;
  gone: Promise<void>;
}

class WarmPool {
  readonly #settings: ProcessSettings;
  readonly #target: number;
  readonly #idleMs: number;
  readonly #ready: Waiting[] = [];
  /** Running calls, and processes on their way out. */
  readonly #open = new Set<Promise<unknown>>();
  #running = 0;
  #deaths = 0;
  #isClosed = false;
  #replenishing: Timer | undefined;
  #idle: Timer | undefined;

  constructor(
    settings: ProcessSettings,
    { processes = DEFAULT_WARM_PROCESSES, idleMs = DEFAULT_IDLE_MS }: WarmOptions,
  ) {
    this.#settings = settings;
    this.#target = Math.max(1, Math.min(MAX_WARM_PROCESSES, Math.trunc(processes) || 1));
    this.#idleMs = idleMs;
  }

  get waiting(): number {
    return this.#ready.length;
  }

  async ask<T>(asked: Asked, call: (process: OneShotProcess) => Promise<T>): Promise<T> {
    if (this.#isClosed)
      return failureEnvelope(asked, refusedFailure(this.#settings.label, 'it is closed', false)) as T;
    this.#idle?.cancel();
    this.#running += 1;
    const answered = call(this.#take());
    // The start of a process blocks for a millisecond, so it waits for the answer, but not for a slow one.
    if (this.#deaths === 0) this.#replenishAfter(WARM_REPLENISH_DELAY_MS);
    this.#track(answered);
    const answer = await answered;
    this.#running -= 1;
    if (this.#deaths === 0) this.replenish();
    this.#startIdle();
    return answer;
  }

  replenish(): void {
    this.#replenishing?.cancel();
    this.#replenishing = undefined;
    while (!this.#isClosed && this.#ready.length < this.#target && this.#deaths < MAX_QUICK_DEATHS) {
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      const process = new OneShotProcess(this.#settings, () => {
        resolve();
        this.#diedWaiting(process);
      });
      this.#ready.push({ process, gone });
      // One that dies at once is reported later; after a death only one is tried at a time.
      if (this.#deaths > 0) break;
    }
    this.#startIdle();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#replenishing?.cancel();
    this.#idle?.cancel();
    this.#discardReady();
    return Promise.allSettled(this.#open).then(() => undefined);
  }

  #take(): OneShotProcess {
    for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) {
      if (next.process.isFresh) {
        this.#deaths = 0;
        return next.process;
      }
      this.#discard(next);
    }
    return new OneShotProcess(this.#settings);
  }

  #diedWaiting(process: OneShotProcess): void {
    const index = this.#ready.findIndex((waiting) => waiting.process === process);
    // Not there: we ended it ourselves.
    if (index === -1) return;
    this.#ready.splice(index, 1);
    this.#deaths += 1;
    this.#replenishAfter(FIRST_RESTART_DELAY_MS * 2 ** this.#deaths);
  }

  #replenishAfter(delayMs: number): void {
    if (this.#isClosed || this.#replenishing !== undefined) return;
    this.#replenishing = this.#settings.deps.clock.startTimer(delayMs, () => this.replenish(), {
      background: true,
    });
  }

  #startIdle(): void {
    this.#idle?.cancel();
    if (this.#isClosed || this.#running > 0 || this.#ready.length === 0) return;
    this.#idle = this.#settings.deps.clock.startTimer(this.#idleMs, () => this.#discardReady(), {
      background: true,
    });
  }

  #discardReady(): void {
    for (const waiting of this.#ready.splice(0)) this.#discard(waiting);
  }

  #discard({ process, gone }: Waiting): void {
    this.#track(gone);
    process.discard();
  }

  #track(work: Promise<unknown>): void {
    this.#open.add(work);
    void work.then(() => this.#open.delete(work));
  }
}
