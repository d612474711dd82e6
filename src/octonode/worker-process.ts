// One life of a worker: requests out in batches, answer lines in, matched by invocationId. It knows what is in flight and
// nothing of queues or restarts. A line that is nobody's answer, a second answer or broken text ends the life.

import type { Timer } from '../support/clock.ts';
import { type Answer, brokenLine, checkAnswer, diagnoseText } from './answer.ts';
import type { AnswerEnvelope } from './envelopes.ts';
import {
  type Asked,
  badAnswerFailure,
  type Ending,
  type Failure,
  overflowFailure,
  workerKilledFailure,
} from './failures.ts';
import { BATCH_CHARACTERS, CLOSE_GRACE_MS, WORKER_LEAVE_MS } from './limits.ts';
import { LineReader } from './line-reader.ts';
import type { ProcessSettings } from './node-command.ts';
import type { RequestLine } from './request.ts';
import { type ChildEnd, SupervisedChild } from './supervised-child.ts';

export interface WorkerCall {
  asked: Asked;
  line: RequestLine;
  deadlineAtMs: number;
  timeoutMs: number;
  /** Undefined once the caller has its answer: what still comes is late. */
  settle: ((envelope: AnswerEnvelope) => void) | undefined;
}

interface WorkerLifeEvents {
  /** The answer of a call in flight; the call has left. */
  onAnswer(call: WorkerCall, envelope: AnswerEnvelope): void;
  /** It ended or closed its output: ask nothing more. What is in flight may still be answered until `onGone`. */
  onEnding(): void;
  /** It is being killed: what is in flight fails with this. */
  onDoomed(failure: Failure): void;
  onLateAnswer(): void;
  onGone(end: ChildEnd): void;
}

export class WorkerLife {
  readonly inFlight = new Map<string, WorkerCall>();
  /** Answers given so far. */
  answered = 0;
  readonly #settings: ProcessSettings;
  readonly #events: WorkerLifeEvents;
  readonly #child: SupervisedChild;
  readonly #lines: LineReader;
  #batch = '';
  #isEnding = false;
  #isDoomed = false;
  #leave: Timer | undefined;

  constructor(settings: ProcessSettings, events: WorkerLifeEvents) {
    this.#settings = settings;
    this.#events = events;
    const { label, maxAnswerBytes } = settings;
    this.#lines = new LineReader(maxAnswerBytes, {
      onLine: (text) => this.#line(text),
      onBroken: (line) => this.#refuse(brokenLine(line)),
      onOverflow: () => this.#doom(overflowFailure(label, maxAnswerBytes)),
    });
    this.#child = new SupervisedChild(settings, {
      onStdout: (chunk) => this.#lines.push(chunk),
      onStdoutEnd: () => {
        this.#lines.end();
        this.#ending();
      },
      onExit: () => this.#ending(),
      onGone: (end) => {
        this.#leave?.cancel();
        events.onGone(end);
      },
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(call: WorkerCall): void {
    this.inFlight.set(call.asked.invocationId, call);
    if (typeof call.line !== 'string') {
      this.#flush();
      return void this.#child.send(call.line);
    }
    // One write for all requests of a turn: a system call costs more than a small request.
    if (this.#batch === '') process.nextTick(() => this.#flush());
    this.#batch += call.line;
    if (this.#batch.length >= BATCH_CHARACTERS) this.#flush();
  }

  stderrTail(): string {
    return this.#child.stderrTail();
  }

  /** Ends its input, and after a grace the process. */
  retire(): void {
    this.#flush();
    this.#child.endInput();
    this.#leave ??= this.#settings.deps.clock.startTimer(CLOSE_GRACE_MS, () => this.#child.kill());
  }

  /** Another call was over its deadline: fails what is in flight, retryable, and ends the tree. */
  killForDeadline(): void {
    this.#doom(workerKilledFailure(this.#settings.label));
  }

  /** Fails what is in flight with `failure` and ends the tree. */
  abandon(failure: Failure): void {
    this.#doom(failure);
  }

  #flush(): void {
    if (this.#batch === '') return;
    const batch = this.#batch;
    this.#batch = '';
    this.#child.send(batch);
  }

  #line(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // A blank line is no text; all else that is not JSON costs the worker its life.
      if (text.trim() !== '') this.#refuse(diagnoseText(text));
      return;
    }
    this.#answer(value, text);
  }

  #answer(value: unknown, text: string): void {
    const id: unknown =
      typeof value === 'object' && value !== null && 'invocationId' in value ? value.invocationId : undefined;
    const call = typeof id === 'string' ? this.inFlight.get(id) : undefined;
    if (call === undefined) return void this.#answerOfNobody(text, id);
    const answer = checkAnswer(value, text, call.asked);
    if (answer.status !== 'ok') return void this.#refuse(answer);
    this.inFlight.delete(call.asked.invocationId);
    this.answered += 1;
    // Before the caller hears of it: the next request must not go to a process that is about to end.
    if (saysItEnds(answer.envelope)) this.#ending();
    if (call.settle === undefined) this.#events.onLateAnswer();
    else this.#events.onAnswer(call, answer.envelope);
  }

  #answerOfNobody(text: string, id: unknown): void {
    if (this.#isDoomed) return void this.#events.onLateAnswer();
    const which =
      typeof id === 'string'
        ? `the unknown or repeated invocationId ${JSON.stringify(id.slice(0, 80))}`
        : 'no invocationId';
    this.#refuse({ status: 'bad', problem: `answered with ${which}`, excerpt: text });
  }

  #refuse(answer: Answer): void {
    if (this.#isDoomed || answer.status !== 'bad') return;
    const { label, mask } = this.#settings;
    const ending: Ending = { label, exitCode: null, signal: null, stderrTail: this.#child.stderrTail() };
    this.#doom(badAnswerFailure(ending, answer.problem, mask(answer.excerpt)));
  }

  /** A process that lost its output, or left it to a grandchild, gets a moment to be gone by itself. */
  #ending(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#leave ??= this.#settings.deps.clock.startTimer(WORKER_LEAVE_MS, () => this.#child.kill());
    if (!this.#isDoomed) this.#events.onEnding();
  }

  #doom(failure: Failure): void {
    if (this.#isDoomed) return;
    this.#isDoomed = true;
    this.#batch = '';
    this.#child.kill();
    this.#events.onDoomed(failure);
  }
}

/** An error with `details.uncaught`: the process cannot go on after it. */
function saysItEnds(envelope: AnswerEnvelope): boolean {
  if (envelope.status === 'ok') return false;
  const { details } = envelope.error;
  return (
    typeof details === 'object' && details !== null && 'uncaught' in details && details.uncaught === true
  );
}
