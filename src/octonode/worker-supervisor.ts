// Keeps one worker process alive for many calls: at most `concurrency` in flight, the rest in a bounded queue.
// A process that dies costs the calls in flight a retryable error; the next one is started with growing delay, and after
// five deaths without a single answer the worker is given up. A call over its deadline costs the process its life.

import type { Timer } from '../support/clock.ts';
import { CallDeadlines } from './call-deadlines.ts';
import { CallQueue } from './call-queue.ts';
import type { AnswerEnvelope } from './envelopes.ts';
import {
  type Asked,
  cancelledFailure,
  type Failure,
  failureEnvelope,
  givenUpFailure,
  refusedFailure,
  spawnFailure,
  timeoutFailure,
  workerDeathFailure,
} from './failures.ts';
import {
  DEFAULT_IDLE_MS,
  DEFAULT_WORKER_CONCURRENCY,
  DEFAULT_WORKER_QUEUE,
  FIRST_RESTART_DELAY_MS,
  MAX_QUICK_DEATHS,
} from './limits.ts';
import { type ProcessSettings, timeLeftMs } from './node-command.ts';
import type { InvokeCallOptions, Prepared } from './request.ts';
import type { ChildEnd } from './supervised-child.ts';
import type { WorkerOptions, WorkerStatus } from './worker-options.ts';
import { type WorkerCall, WorkerLife } from './worker-process.ts';

export class WorkerSupervisor {
  readonly #settings: ProcessSettings;
  readonly #concurrency: number;
  readonly #maxQueued: number;
  readonly #idleMs: number;
  readonly #deadlines: CallDeadlines;
  readonly #lives = new Set<WorkerLife>();
  readonly #queue = new CallQueue();
  #life: WorkerLife | undefined;
  #starts = 0;
  #quickDeaths = 0;
  #lateAnswers = 0;
  #givenUp: Failure | undefined;
  #restart: Timer | undefined;
  #idle: Timer | undefined;
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(settings: ProcessSettings, options: WorkerOptions) {
    this.#settings = settings;
    this.#concurrency = Math.max(1, options.concurrency ?? DEFAULT_WORKER_CONCURRENCY);
    this.#maxQueued = options.maxQueued ?? DEFAULT_WORKER_QUEUE;
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
    this.#deadlines = new CallDeadlines(settings.deps.clock, (nowMs) => this.#expire(nowMs));
  }

  status(): WorkerStatus {
    const state = this.#state();
    return {
      state,
      pid: this.#life?.pid,
      inFlight: this.#life?.inFlight.size ?? 0,
      queued: this.#queue.size,
      starts: this.#starts,
      quickDeaths: this.#quickDeaths,
      lateAnswers: this.#lateAnswers,
    };
  }

  ask({ asked, line }: Prepared, { timeoutMs, signal, context }: InvokeCallOptions): Promise<AnswerEnvelope> {
    const refusal = this.#refusal(asked, signal);
    if (refusal !== undefined) return Promise.resolve(failureEnvelope(asked, refusal));
    const { clock } = this.#settings.deps;
    const limitMs = timeLeftMs(clock, timeoutMs, context?.deadlineMs);
    const call: WorkerCall = {
      asked,
      line,
      timeoutMs: limitMs,
      deadlineAtMs: clock.monotonicMs() + limitMs,
      settle: undefined,
    };
    this.#idle?.cancel();
    this.#idle = undefined;
    return new Promise((resolve) => {
      call.settle = signal === undefined ? resolve : this.#cancellable(call, signal, resolve);
      this.#deadlines.watch(call.deadlineAtMs);
      const life = this.#life;
      if (life !== undefined && this.#queue.size === 0 && life.inFlight.size < this.#concurrency)
        life.send(call);
      else this.#enqueue(call);
    });
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = Promise.withResolvers();
      this.#settleClose();
    }
    return this.#closing.promise;
  }

  abandon(): Promise<void> {
    const closed = this.close();
    const failure = cancelledFailure(this.#settings.label);
    for (const call of this.#queue.all()) {
      this.#queue.remove(call);
      this.#finish(call, failureEnvelope(call.asked, failure));
    }
    for (const life of this.#lives) life.abandon(failure);
    this.#settleClose();
    return closed;
  }

  #state(): WorkerStatus['state'] {
    if (this.#closing !== undefined) return 'closed';
    if (this.#givenUp !== undefined) return 'given_up';
    if (this.#restart !== undefined) return 'waiting_to_restart';
    return this.#life === undefined ? 'idle' : 'running';
  }

  #refusal({ invocationId }: Asked, signal: AbortSignal | undefined): Failure | undefined {
    const { label } = this.#settings;
    if (this.#closing !== undefined) return refusedFailure(label, 'it is closed', false);
    if (this.#givenUp !== undefined) return this.#givenUp;
    if (signal?.aborted === true) return cancelledFailure(label);
    if (this.#queue.size >= this.#maxQueued)
      return refusedFailure(label, `${this.#maxQueued} calls wait already`, true);
    const isTaken = this.#life?.inFlight.has(invocationId) === true || this.#queue.has(invocationId);
    return isTaken
      ? refusedFailure(label, `invocationId "${invocationId.slice(0, 80)}" is in use`, false)
      : undefined;
  }

  #cancellable(
    call: WorkerCall,
    signal: AbortSignal,
    resolve: (envelope: AnswerEnvelope) => void,
  ): (envelope: AnswerEnvelope) => void {
    const cancel = (): void => {
      this.#queue.remove(call);
      // In flight it keeps its place until its late answer or its deadline: the process cannot be told to stop.
      this.#finish(call, failureEnvelope(call.asked, cancelledFailure(this.#settings.label)));
      this.#afterCall();
    };
    signal.addEventListener('abort', cancel);
    return (envelope) => {
      signal.removeEventListener('abort', cancel);
      resolve(envelope);
    };
  }

  #enqueue(call: WorkerCall): void {
    this.#queue.add(call);
    this.#pump();
  }

  #pump(): void {
    if (this.#queue.size === 0 || this.#restart !== undefined) return;
    const life = this.#life ?? this.#start();
    while (life.inFlight.size < this.#concurrency) {
      const call = this.#queue.take();
      if (call === undefined) return;
      life.send(call);
    }
  }

  #start(): WorkerLife {
    const life: WorkerLife = new WorkerLife(this.#settings, {
      onAnswer: (call, envelope) => {
        this.#quickDeaths = 0;
        this.#finish(call, envelope);
        this.#afterCall();
      },
      onEnding: () => this.#leave(life),
      onDoomed: (failure) => {
        this.#leave(life);
        this.#failInFlight(life, failure);
        if (life.answered === 0 && failure.details?.workerKilled !== true) this.#countDeath(undefined);
        this.#afterCall();
      },
      onLateAnswer: () => {
        this.#lateAnswers += 1;
        this.#pump();
      },
      onGone: (end) => this.#gone(life, end),
    });
    this.#starts += 1;
    this.#life = life;
    this.#lives.add(life);
    return life;
  }

  #leave(life: WorkerLife): void {
    if (this.#life === life) this.#life = undefined;
  }

  #gone(life: WorkerLife, end: ChildEnd): void {
    this.#leave(life);
    this.#lives.delete(life);
    const { label, cwd } = this.#settings;
    const failure =
      end.errno === undefined ? workerDeathFailure({ label, ...end }) : spawnFailure(label, end.errno, cwd);
    const wasNeeded = this.#failInFlight(life, failure);
    if (wasNeeded && life.answered === 0) this.#countDeath(end);
    this.#afterCall();
  }

  /** Whether anything was in flight. */
  #failInFlight(life: WorkerLife, failure: Failure): boolean {
    let failed = false;
    for (const call of life.inFlight.values()) {
      failed ||= call.settle !== undefined;
      this.#finish(call, failureEnvelope(call.asked, failure));
    }
    return failed;
  }

  #countDeath(end: ChildEnd | undefined): void {
    const { label, deps } = this.#settings;
    this.#quickDeaths += 1;
    if (this.#quickDeaths >= MAX_QUICK_DEATHS) {
      const ending = {
        label,
        exitCode: end?.exitCode ?? null,
        signal: end?.signal ?? null,
        stderrTail: end?.stderrTail ?? '',
      };
      const failure = givenUpFailure(ending, this.#quickDeaths, end?.errno);
      this.#givenUp = failure;
      for (const call of this.#queue.all()) {
        this.#queue.remove(call);
        this.#finish(call, failureEnvelope(call.asked, failure));
      }
      return;
    }
    this.#restart ??= deps.clock.startTimer(FIRST_RESTART_DELAY_MS * 2 ** (this.#quickDeaths - 1), () => {
      this.#restart = undefined;
      this.#pump();
    });
  }

  #finish(call: WorkerCall, envelope: AnswerEnvelope): void {
    const { settle } = call;
    call.settle = undefined;
    settle?.(envelope);
  }

  /** Fails what is over its deadline: in the queue, the call alone; in flight, its process too. Answers the next deadline. */
  #expire(nowMs: number): number | undefined {
    const life = this.#life;
    const stderrTail = life?.stderrTail() ?? '';
    const overdue = [...(life?.inFlight.values() ?? [])].filter((call) => call.deadlineAtMs <= nowMs);
    const overdueInQueue = this.#queue.all().filter((call) => call.deadlineAtMs <= nowMs);
    for (const call of overdueInQueue) this.#queue.remove(call);
    for (const call of [...overdue, ...overdueInQueue]) {
      this.#finish(
        call,
        failureEnvelope(call.asked, timeoutFailure(this.#settings.label, call.timeoutMs, stderrTail)),
      );
    }
    if (overdue.length > 0) life?.killForDeadline();
    this.#afterCall();
    const waiting = [...(this.#life?.inFlight.values() ?? []), ...this.#queue.all()];
    return waiting.reduce<number | undefined>(
      (least, { deadlineAtMs }) => Math.min(least ?? deadlineAtMs, deadlineAtMs),
      undefined,
    );
  }

  #afterCall(): void {
    this.#pump();
    const isBusy = this.#queue.size > 0 || (this.#life?.inFlight.size ?? 0) > 0;
    if (this.#closing !== undefined) this.#settleClose();
    if (this.#closing !== undefined || isBusy || this.#life === undefined || this.#idle !== undefined) return;
    this.#idle = this.#settings.deps.clock.startTimer(this.#idleMs, () => this.#retire(), {
      background: true,
    });
  }

  #retire(): void {
    const life = this.#life;
    this.#idle = undefined;
    if (life === undefined) return;
    this.#life = undefined;
    life.retire();
  }

  #settleClose(): void {
    if (this.#queue.size > 0 || (this.#life?.inFlight.size ?? 0) > 0) return;
    this.#idle?.cancel();
    this.#restart?.cancel();
    this.#retire();
    if (this.#lives.size > 0) return;
    this.#deadlines.close();
    this.#closing?.resolve();
  }
}
