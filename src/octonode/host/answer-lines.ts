// The loop of a hosted node: request lines in, answer lines out as they come, many at a time, until the end of input.
// It reads no further while nobody takes its answers or while as many requests run as it works on at once.

import type { Readable } from 'node:stream';
import { BATCH_CHARACTERS, MAX_HOST_RUNNING, MAX_REQUEST_BYTES } from '../limits.ts';
import { LineReader } from '../line-reader.ts';
import { type AnswerDeps, answerBadLine, answerRequest, type Loaded } from './answer-request.ts';

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
  readonly #whenReady: Promise<AnswerDeps>;
  readonly #running = new Set<Promise<void>>();
  /** Set once the file is loaded: from then on a request may be answered at once. */
  #ready: AnswerDeps | undefined;
  #batch = '';
  #isBlocked = false;

  constructor(input: Readable, output: HostOutput, { loaded, ...deps }: AnswerLinesDeps) {
    this.#input = input;
    this.#output = output;
    this.#whenReady = loaded.then((nodes) => {
      this.#ready = { ...deps, loaded: nodes };
      return this.#ready;
    });
    this.#lines = new LineReader(MAX_REQUEST_BYTES, {
      onLine: (text) => this.#answer(text),
      onBroken: () => this.#send(answerBadLine('it is not UTF-8')),
      onOverflow: () => this.#send(answerBadLine(`it is longer than ${MAX_REQUEST_BYTES} bytes`)),
    });
  }

  /** Starts reading; resolves when the input ended and every request in it was answered. */
  ended(): Promise<void> {
    return new Promise((done) => {
      const end = (): void => {
        this.#lines.end();
        // After the flush that the last answer asked for.
        void Promise.all(this.#running).then(() => process.nextTick(done));
      };
      this.#input.on('data', (chunk: Buffer) => this.#lines.push(chunk));
      this.#input.once('end', end);
      this.#input.once('error', end);
    });
  }

  #answer(text: string): void {
    const mayBeBlank = text === '' || text.charCodeAt(0) <= SPACE;
    if (mayBeBlank && text.trim() === '') return;
    const ready = this.#ready;
    const answered =
      ready === undefined
        ? this.#whenReady.then((deps) => answerRequest(text, deps))
        : answerRequest(text, ready);
    if (typeof answered === 'string') this.#send(answered);
    else this.#track(answered);
  }

  #track(pending: Promise<string>): void {
    const answered = pending.then((reply) => {
      this.#running.delete(answered);
      this.#send(reply);
      if (this.#running.size === MAX_HOST_RUNNING - 1) this.#resume();
    });
    this.#running.add(answered);
    if (this.#running.size === MAX_HOST_RUNNING) this.#input.pause();
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
    if (!this.#isBlocked && this.#running.size < MAX_HOST_RUNNING) this.#input.resume();
  }
}
