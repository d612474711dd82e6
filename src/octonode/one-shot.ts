// One process, one request, one answer. The process may have been started ahead (warm) or for the request; from the
// moment it is asked until nothing of it is left, every way it can end becomes one envelope.

import type { Timer } from '../support/clock.ts';
import { type Answer, isComplete, readAnswer } from './answer.ts';
import { ByteCollector } from './byte-collector.ts';
import type { AnswerEnvelope } from './envelopes.ts';
import {
  type Asked,
  badAnswerFailure,
  cancelledFailure,
  describeEnding,
  type Ending,
  failureEnvelope,
  noOutputFailure,
  overflowFailure,
  spawnFailure,
  timeoutFailure,
} from './failures.ts';
import { ANSWER_GRACE_MS } from './limits.ts';
import type { ProcessSettings } from './node-command.ts';
import type { RequestLine } from './request.ts';
import { type ChildEnd, SupervisedChild } from './supervised-child.ts';

export interface Question {
  asked: Asked;
  line: RequestLine;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

type StopReason = 'timeout' | 'overflow' | 'cancelled' | 'overdue';

const CLOSING_BRACE = 0x7d;

export class OneShotProcess {
  readonly #settings: ProcessSettings;
  readonly #child: SupervisedChild;
  readonly #output = new ByteCollector();
  readonly #onUnasked: (end: ChildEnd) => void;
  #question: Question | undefined;
  #resolve: ((envelope: AnswerEnvelope) => void) | undefined;
  /** Why the tree is being killed; its output is not read any more. */
  #stopped: StopReason | undefined;
  #deadline: Timer | undefined;
  #grace: Timer | undefined;
  #lastSignMs = 0;
  #hasStdoutEnded = false;
  /** When the kill began, the node had nothing more to say. */
  #hadEndedWhenStopped = false;
  #end: ChildEnd | undefined;

  /** `onUnasked` is called when the process is gone before it was asked anything. */
  constructor(settings: ProcessSettings, onUnasked: (end: ChildEnd) => void = () => {}) {
    this.#settings = settings;
    this.#onUnasked = onUnasked;
    this.#child = new SupervisedChild(settings, {
      onStdout: (chunk) => this.#receive(chunk),
      onStdoutEnd: () => {
        this.#hasStdoutEnded = true;
        if (!this.#child.hasExited) this.#startGrace();
      },
      onExit: () => {
        if (!this.#hasStdoutEnded) this.#startGrace();
      },
      onGone: (end) => this.#settle(end),
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it can still be asked: running, and it has not said a word. */
  get isFresh(): boolean {
    return (
      this.#end === undefined &&
      !this.#child.hasExited &&
      this.#stopped === undefined &&
      this.#output.byteLength === 0
    );
  }

  /** Once. Never rejects. */
  ask(question: Question): Promise<AnswerEnvelope> {
    this.#question = question;
    this.#child.send(question.line);
    this.#child.endInput();
    this.#deadline = this.#settings.deps.clock.startTimer(question.timeoutMs, () => this.#stop('timeout'));
    question.signal?.addEventListener('abort', this.#cancel);
    if (question.signal?.aborted === true) this.#cancel();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Ends a process that was not asked. */
  discard(): void {
    this.#stop('cancelled');
  }

  readonly #cancel = (): void => this.#stop('cancelled');

  #receive(chunk: Buffer): void {
    if (this.#stopped !== undefined) return;
    this.#output.add(chunk);
    if (this.#output.byteLength > this.#settings.maxAnswerBytes) {
      this.#output.clear();
      this.#stop('overflow');
    } else if (endsObject(chunk)) this.#startGrace();
  }

  /** The answer may be complete: gives the process a moment to end by itself. */
  #startGrace(): void {
    const { clock } = this.#settings.deps;
    this.#lastSignMs = clock.monotonicMs();
    if (this.#grace !== undefined || this.#question === undefined || this.#stopped !== undefined) return;
    const wait = (delayMs: number): void => {
      this.#grace = clock.startTimer(delayMs, () => {
        const restMs = this.#lastSignMs + ANSWER_GRACE_MS - clock.monotonicMs();
        if (restMs >= 1) return wait(restMs);
        this.#grace = undefined;
        const isOver = this.#child.hasExited || this.#hasStdoutEnded || isComplete(this.#output.bytes());
        if (isOver) this.#stop('overdue');
      });
    };
    wait(ANSWER_GRACE_MS);
  }

  #stop(reason: StopReason): void {
    if (this.#stopped !== undefined || this.#end !== undefined) return;
    this.#stopped = reason;
    this.#hadEndedWhenStopped = this.#hasStdoutEnded;
    this.#child.kill();
  }

  #settle(end: ChildEnd): void {
    this.#end = end;
    this.#deadline?.cancel();
    this.#grace?.cancel();
    this.#question?.signal?.removeEventListener('abort', this.#cancel);
    if (this.#question === undefined) this.#onUnasked(end);
    else this.#resolve?.(this.#conclude(this.#question, end));
    this.#output.release();
  }

  #conclude({ asked, timeoutMs }: Question, end: ChildEnd): AnswerEnvelope {
    const { label, cwd, maxAnswerBytes, mask, onWarning } = this.#settings;
    if (end.errno !== undefined) return failureEnvelope(asked, spawnFailure(label, end.errno, cwd));
    if (this.#stopped === 'overflow') return failureEnvelope(asked, overflowFailure(label, maxAnswerBytes));
    if (this.#stopped === 'cancelled') return failureEnvelope(asked, cancelledFailure(label));
    const ending: Ending = { label, exitCode: end.exitCode, signal: end.signal, stderrTail: end.stderrTail };
    const answer: Answer = readAnswer(this.#output.bytes(), asked);
    if (answer.status === 'ok') {
      const warning = this.#warningAbout(answer.envelope, end);
      if (warning !== undefined) onWarning(warning);
      return answer.envelope;
    }
    // Out of time with half an answer is out of time; with a whole wrong one, the answer is the news.
    if (this.#stopped === 'timeout' && !this.#hasWholeAnswer(answer)) {
      return failureEnvelope(asked, timeoutFailure(label, timeoutMs, end.stderrTail));
    }
    if (answer.status === 'empty') return failureEnvelope(asked, noOutputFailure(ending));
    return failureEnvelope(asked, badAnswerFailure(ending, answer.problem, mask(answer.excerpt)));
  }

  #hasWholeAnswer(answer: Answer): boolean {
    return answer.status === 'bad' && (this.#hadEndedWhenStopped || isComplete(this.#output.bytes()));
  }

  #warningAbout(envelope: AnswerEnvelope, end: ChildEnd): string | undefined {
    const { label } = this.#settings;
    if (this.#stopped !== undefined) return `Node "${label}" answered but did not end, and was killed`;
    if (envelope.status === 'error' || end.exitCode === 0) return undefined;
    return `Node "${label}" answered ok, then ended badly (${describeEnding(end)})`;
  }
}

/** Whether the last byte that is not blank closes an object; looks at the last few bytes only. */
function endsObject(chunk: Buffer): boolean {
  for (let index = chunk.length - 1; index >= 0 && index >= chunk.length - 4; index -= 1) {
    const byte = chunk[index] ?? 0;
    if (byte === CLOSING_BRACE) return true;
    if (byte > 0x20) return false;
  }
  // Only blanks: the brace may have come before.
  return true;
}
