// The loop of a hosted node: request lines in, answer lines out as they come, many at a time, until the end of input.
// It reads no further while nobody takes its answers or while as many requests run as it works on at once.

import type { Readable } from 'node:stream';
import type { Asked } from '../failures.ts';
import { BATCH_CHARACTERS, MAX_HOST_RUNNING, MAX_REQUEST_BYTES } from '../limits.ts';
import { LineReader } from '../line-reader.ts';
import {
  type AnswerDeps,
  answerBadLine,
  answerFailure,
  answerRequest,
  type Loaded,
  type PendingAnswer,
} from './answer-request.ts';
import { uncaughtFailure } from './thrown.ts';

export interface HostOutput {
  /** False: wait for `onceDrained`. */
  write(text: string): boolean;
  onceDrained(callback: () => void): void;
}

export interface AnswerLinesDeps extends Omit<AnswerDeps, 'loaded'> {
  loaded: Promise<Loaded>;
}

const SPACE = 0x20;

export class AnswerLines {
  readonly #input: Readable;
  readonly #output: HostOutput;
  readonly #lines: LineReader;
  readonly #deps: Omit<AnswerDeps, 'loaded'>;
  readonly #whenReady: Promise<void>;
  readonly #running = new Map<Promise<void>, Asked>();
  readonly #done = Promise.withResolvers<void>();
  /** Requests that came before the file was loaded. */
  #waiting: string[] = [];
  /** Set once the file is loaded: from then on a request may be answered at once. */
  #ready: AnswerDeps | undefined;
  #received = 0;
  #state: 'open' | 'failed' | 'over' = 'open';
  #batch = '';
  #isBlocked = false;

  constructor(input: Readable, output: HostOutput, { loaded, ...deps }: AnswerLinesDeps) {
    this.#input = input;
    this.#output = output;
    this.#deps = deps;
    this.#whenReady = loaded.then((nodes) => this.#begin(nodes));
    this.#lines = new LineReader(MAX_REQUEST_BYTES, {
      onLine: (text) => this.#take(text),
      onBroken: () => this.#send(answerBadLine('it is not UTF-8')),
      onOverflow: () => this.#send(answerBadLine(`it is longer than ${MAX_REQUEST_BYTES} bytes`)),
    });
  }

  /** Starts reading; resolves when the input ended and every request in it was answered, or after `fail` or `abandon`. */
  ended(): Promise<void> {
    const end = (): void => {
      this.#lines.end();
      const begun = this.#waiting.length === 0 ? Promise.resolve() : this.#whenReady;
      void begun.then(() => Promise.all(this.#running.keys())).then(() => this.#finish());
    };
    this.#input.on('data', (chunk: Buffer) => this.#lines.push(chunk));
    this.#input.once('end', end);
    this.#input.once('error', end);
    return this.#done.promise;
  }

  /**
   * Something was thrown outside of every call. All calls in flight are answered with it, for which of them threw cannot be
   * known; then it is over, and requests not yet read get no answer. Before the first request, that one is answered so.
   * Answers how many calls were told.
   */
  fail(error: unknown): number {
    if (this.#state !== 'open') return 0;
    this.#state = 'failed';
    const told = this.#running.size + this.#waiting.length;
    const failure = uncaughtFailure(error, { mayRetry: this.#ready !== undefined && this.#received > 1 });
    for (const asked of this.#running.values()) this.#send(answerFailure(asked, failure));
    // A file that is not loaded by now, or that nobody asked yet, fails as a whole.
    this.#ready = undefined;
    this.#begin({ status: 'failed', failure });
    if (this.#received > 0) this.#finish();
    return told;
  }

  /** Nobody is left to read answers: it is over, whatever is in flight. */
  abandon(): void {
    if (this.#state !== 'over') this.#finish();
  }

  #begin(loaded: Loaded): void {
    if (this.#ready !== undefined) return;
    this.#ready = { ...this.#deps, loaded };
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const text of waiting) this.#answer(text, this.#ready);
    if (waiting.length > 0) this.#resume();
  }

  #take(text: string): void {
    const mayBeBlank = text === '' || text.charCodeAt(0) <= SPACE;
    if (this.#state === 'over' || (mayBeBlank && text.trim() === '')) return;
    this.#received += 1;
    if (this.#ready !== undefined) return this.#answer(text, this.#ready);
    this.#waiting.push(text);
    if (this.#waiting.length === MAX_HOST_RUNNING) this.#input.pause();
  }

  #answer(text: string, deps: AnswerDeps): void {
    const answered = answerRequest(text, deps);
    if (typeof answered !== 'string') return this.#track(answered);
    this.#send(answered);
    if (this.#state === 'failed') this.#finish();
  }

  #track({ asked, reply }: PendingAnswer): void {
    const answered = reply.then((text) => {
      if (this.#state !== 'open') return;
      this.#running.delete(answered);
      this.#send(text);
      if (this.#running.size === MAX_HOST_RUNNING - 1) this.#resume();
    });
    this.#running.set(answered, asked);
    if (this.#running.size === MAX_HOST_RUNNING) this.#input.pause();
  }

  #finish(): void {
    this.#state = 'over';
    this.#input.pause();
    // After the flush that the last answer asked for.
    process.nextTick(this.#done.resolve);
  }

  #send(reply: string): void {
    // Ticks come after all promises that are ready: one write for all answers of a turn.
    if (this.#batch === '') process.nextTick(() => this.#flush());
    this.#batch += reply;
    if (this.#batch.length >= BATCH_CHARACTERS) this.#flush();
  }

  #flush(): void {
    const batch = this.#batch;
    this.#batch = '';
    if (batch === '' || this.#output.write(batch) || this.#isBlocked) return;
    this.#isBlocked = true;
    this.#input.pause();
    this.#output.onceDrained(() => {
      this.#isBlocked = false;
      this.#resume();
    });
  }

  #resume(): void {
    const isFull = this.#running.size + this.#waiting.length >= MAX_HOST_RUNNING;
    if (!this.#isBlocked && !isFull && this.#state !== 'over') this.#input.resume();
  }
}
