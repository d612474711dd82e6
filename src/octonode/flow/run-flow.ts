// Runs a plan: each step as soon as everything it waits for has ended, at most `jobs` calls at once and no more of one node
// than its `concurrency`. An error that says it is retryable is tried again after a growing wait. It never throws, and when it
// answers, no process of the run is left.

import type { Clock, Timer } from '../../support/clock.ts';
import type { Random } from '../../support/random.ts';
import type { ResultEnvelope } from '../octonode.ts';
import { type CallerOptions, createCallers } from './callers.ts';
import type { FlowEnvironment } from './environment.ts';
import { createGates } from './gates.ts';
import { JITTER_PART, MAX_BACKOFF_MS } from './limits.ts';
import type { Mask } from './mask.ts';
import type { FlowPlan, PlanStep } from './plan.ts';
import type { FlowEvent, NodeFailure, NodeRecord, RunRecord } from './record.ts';
import { gatherInputs } from './step-inputs.ts';

export interface FlowDeps {
  clock: Clock;
  random: Random;
  createId: () => string;
}

export interface FlowRunOptions extends Omit<CallerOptions, 'mask'> {
  inputs: unknown;
  environment: FlowEnvironment;
  mask: Mask;
  /** Cancels what runs and skips the rest. */
  signal: AbortSignal;
  onEvent: (event: FlowEvent) => void;
}

interface StepState {
  step: PlanStep;
  /** Predecessors that have not ended. */
  missing: number;
  attempts: number;
  inputs: unknown;
  startedAtMs: number | undefined;
  startedAt: string | undefined;
  /** Set while it waits for its next attempt. */
  retry: Timer | undefined;
  /** Of the last attempt that failed. */
  error: NodeFailure | undefined;
  outputs: unknown;
  record: NodeRecord | undefined;
}

export async function runFlow(deps: FlowDeps, plan: FlowPlan, options: FlowRunOptions): Promise<RunRecord> {
  const run = new FlowRun(deps, plan, options);
  return run.run();
}

class FlowRun {
  readonly #deps: FlowDeps;
  readonly #plan: FlowPlan;
  readonly #options: FlowRunOptions;
  readonly #runId: string;
  readonly #states: StepState[];
  readonly #gates;
  readonly #callers;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #open: number;

  constructor(deps: FlowDeps, plan: FlowPlan, options: FlowRunOptions) {
    this.#deps = deps;
    this.#plan = plan;
    this.#options = options;
    this.#runId = deps.createId();
    this.#states = plan.steps.map((step) => ({
      step,
      missing: step.predecessors.length,
      attempts: 0,
      inputs: undefined,
      startedAtMs: undefined,
      startedAt: undefined,
      retry: undefined,
      error: undefined,
      outputs: undefined,
      record: undefined,
    }));
    this.#open = plan.steps.length;
    this.#callers = createCallers({ ...options, mask: options.mask.text });
    this.#gates = createGates<StepState>(options.jobs, {
      keyOf: ({ step }) => step.entry.id,
      limitOf: ({ step }) => step.concurrency,
      start: (state) => this.#attempt(state),
    });
  }

  async run(): Promise<RunRecord> {
    const { clock } = this.#deps;
    const { signal, onEvent, environment, mask, inputs } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const startedAt = this.#now();
    const env = environment.name === undefined ? {} : { env: environment.name };
    const head = { runId: this.#runId, workflow: this.#plan.workflowId, ...env };
    onEvent({ event: 'run.started', ...head, nodes: this.#states.length, at: startedAt });
    const cancel = (): void => this.#halt('the run was cancelled');
    signal.addEventListener('abort', cancel);
    for (const state of this.#states) if (state.missing === 0) this.#gates.add(state);
    if (signal.aborted) cancel();
    if (this.#open === 0) this.#ended.resolve();
    await this.#ended.promise;
    await this.#callers.close(this.#stop.signal.aborted);
    signal.removeEventListener('abort', cancel);
    return {
      ...head,
      status: this.#status(),
      ...(signal.aborted ? { cancelled: true } : {}),
      startedAt,
      endedAt: this.#now(),
      durationMs: Math.round(clock.monotonicMs() - startedAtMs),
      inputs: mask.value(inputs),
      nodes: this.#states.flatMap(({ record }) => record ?? []),
    };
  }

  #status(): RunRecord['status'] {
    if (this.#states.every(({ record }) => record?.status === 'ok')) return 'ok';
    const isPartial = this.#plan.policy === 'continue' && !this.#options.signal.aborted;
    return isPartial && this.#states.some(({ record }) => record?.status === 'ok') ? 'partial' : 'error';
  }

  /** One call of a step that has a place; the place is given back when the call is over. */
  #attempt(state: StepState): void {
    const { clock } = this.#deps;
    const { step } = state;
    if (state.startedAtMs === undefined) {
      state.startedAtMs = clock.monotonicMs();
      state.startedAt = this.#now();
      const gathered = gatherInputs(step, this.#scope(), {
        outputsOf: (index) => this.#states[index]?.outputs,
        nameOf: (index) => this.#states[index]?.step.id ?? '',
      });
      if (gathered.status === 'missing') {
        const error = { code: 'VALIDATION_ERROR', message: gathered.message, retryable: false } as const;
        this.#finish(state, { status: 'error', error });
        return this.#gates.release(state);
      }
      state.inputs = gathered.inputs;
    }
    state.attempts += 1;
    this.#options.onEvent({ event: 'node.started', node: step.id, attempt: state.attempts, at: this.#now() });
    const call = { timeoutMs: step.timeoutMs, signal: this.#stop.signal, context: this.#context(state) };
    void this.#callers.invoke(step, state.inputs, call).then((envelope) => {
      this.#answered(state, envelope);
      // Only now: whoever follows the events never sees more under way than may be.
      this.#gates.release(state);
    });
  }

  #scope(): { inputs: unknown; vars: FlowEnvironment['vars'] } {
    return { inputs: this.#options.inputs, vars: this.#options.environment.vars };
  }

  #context({ step, attempts }: StepState): Record<string, unknown> {
    const { name, vars } = this.#options.environment;
    const own = step.entry.presentation?.['config'];
    return {
      runId: this.#runId,
      ...(name === undefined ? {} : { env: name }),
      config: { ...(typeof own === 'object' && !Array.isArray(own) ? own : {}), ...vars },
      attempt: attempts,
      step: step.id,
      deadlineMs: Math.round(this.#deps.clock.wallMs() + step.timeoutMs),
    };
  }

  #answered(state: StepState, envelope: ResultEnvelope): void {
    if (envelope.status === 'ok') {
      state.outputs = envelope.outputs;
      return this.#finish(state, { status: 'ok' });
    }
    const { error } = envelope;
    if (this.#stop.signal.aborted)
      return this.#finish(state, { status: wasCancelled(error) ? 'cancelled' : 'error', error });
    const { step, attempts } = state;
    if (!error.retryable || attempts > step.retries) return this.#finish(state, { status: 'error', error });
    state.error = error;
    const delayMs = backoffMs(step.backoffMs, attempts, this.#deps.random);
    this.#options.onEvent({
      event: 'node.retry',
      node: step.id,
      attempt: attempts,
      delayMs,
      error: this.#options.mask.failure(error),
      at: this.#now(),
    });
    state.retry = this.#deps.clock.startTimer(delayMs, () => {
      state.retry = undefined;
      this.#gates.add(state);
    });
  }

  #finish(
    state: StepState,
    { status, error }: { status: 'ok' | 'error' | 'cancelled'; error?: NodeFailure | undefined },
  ): void {
    const { step, attempts, startedAtMs } = state;
    const { mask, onEvent } = this.#options;
    const at = this.#now();
    const result = {
      attempts,
      durationMs: Math.round(this.#deps.clock.monotonicMs() - (startedAtMs ?? 0)),
      ...(status === 'ok' ? { outputs: mask.value(state.outputs) } : {}),
      ...(error === undefined ? {} : { error: mask.failure(error) }),
    };
    const { durationMs, ...rest } = result;
    const times = { startedAt: state.startedAt ?? at, endedAt: at, durationMs };
    this.#settle(state, { id: step.id, node: step.target, status, ...times, ...rest });
    onEvent({ event: 'node.ended', node: step.id, status, ...result, at });
    if (status === 'ok') this.#release(step);
    else if (this.#plan.policy === 'halt') this.#halt(`node "${step.id}" failed`);
    else this.#skipDescendants(step);
    if (this.#open === 0) this.#ended.resolve();
  }

  #release(step: PlanStep): void {
    for (const index of step.successors) {
      const next = this.#states[index];
      if (next === undefined) continue;
      next.missing -= 1;
      if (next.missing === 0 && next.record === undefined) this.#gates.add(next);
    }
  }

  #skipDescendants(step: PlanStep): void {
    const doomed = [...step.successors];
    for (let index = doomed.pop(); index !== undefined; index = doomed.pop()) {
      const state = this.#states[index];
      if (state === undefined || state.record !== undefined) continue;
      this.#skip(state, `node "${step.id}" failed`);
      doomed.push(...state.step.successors);
    }
  }

  /** Cancels what runs or waits to be tried again, and skips what has not begun. */
  #halt(reason: string): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#gates.clear();
    for (const state of this.#states) {
      if (state.record !== undefined || this.#gates.isRunning(state)) continue;
      state.retry?.cancel();
      if (state.attempts === 0) this.#skip(state, reason);
      else this.#finish(state, { status: 'cancelled', error: state.error });
    }
    if (this.#open === 0) this.#ended.resolve();
  }

  #skip(state: StepState, reason: string): void {
    const { id, target } = state.step;
    this.#settle(state, { id, node: target, status: 'skipped', attempts: 0, reason });
    this.#options.onEvent({ event: 'node.skipped', node: id, reason, at: this.#now() });
  }

  #settle(state: StepState, record: NodeRecord): void {
    state.record = record;
    state.inputs = undefined;
    this.#open -= 1;
  }

  #now(): string {
    return new Date(this.#deps.clock.wallMs()).toISOString();
  }
}

/** Doubles with each attempt, and is lengthened at random so that many that failed together do not return together. */
export function backoffMs(firstMs: number, attempt: number, random: Random): number {
  const waitMs = Math.min(MAX_BACKOFF_MS, firstMs * 2 ** (attempt - 1));
  return Math.round(waitMs * (1 + JITTER_PART * random()));
}

function wasCancelled({ details }: NodeFailure): boolean {
  return (
    typeof details === 'object' && details !== null && 'cancelled' in details && details.cancelled === true
  );
}
