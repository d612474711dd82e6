// Lines from a peer to its session, at the pace at which the peer reads its answers. One chunk may hold thousands of small
// requests with large answers: once the answers that wait are too many, the rest of the chunk waits too, and no more is
// read. Nothing is dropped; what waits here is bounded by one chunk and one line.

import type { Readable } from 'node:stream';
import type { Session } from '../gateway/connection.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { createLineSplitter } from '../protocol/json-lines.ts';
import { releaseBytes } from '../support/release-bytes.ts';

export interface RequestIntake {
  /** Takes no request while held. */
  hold(held: boolean): void;
}

/** What takes the lines; a session is one. */
export type LineTaker = Pick<Session, 'receive' | 'receiveOversized'>;

/** `onEnd` is called once, when the input has ended or failed and every line of it was handed on. */
export function createRequestIntake(input: Readable, taker: LineTaker, onEnd: () => void): RequestIntake {
  /** Lines of the last chunk, read before its answers were too many. */
  const waiting: (() => void)[] = [];
  let isHeld = false;
  let hasEnded = false;

  const take = (line: Buffer, hand: (line: Buffer) => void): void => {
    if (!isHeld && waiting.length === 0) return hand(line);
    // The chunk that it is a part of is freed.
    const own = Buffer.from(line);
    waiting.push(() => hand(own));
  };
  const lines = createLineSplitter({
    maxLineBytes: MAX_FRAME_BYTES,
    onLine: (line) => take(line, (own) => taker.receive(own)),
    onOversized: (head) => take(head, (own) => taker.receiveOversized(own)),
  });
  const goOn = (): void => {
    for (let next = 0; next < waiting.length; next += 1) {
      waiting[next]?.();
      if (!isHeld) continue;
      waiting.splice(0, next + 1);
      return;
    }
    waiting.length = 0;
    if (hasEnded) onEnd();
    else input.resume();
  };
  const finish = (): void => {
    if (hasEnded) return;
    lines.end();
    hasEnded = true;
    if (!isHeld && waiting.length === 0) onEnd();
  };

  input.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    // Every line of it was taken by now; a skipped line of any length must not pile up until memory is short.
    releaseBytes(chunk);
  });
  input.once('end', finish);
  input.once('error', finish);
  return {
    hold(held) {
      isHeld = held;
      if (held) input.pause();
      // Not within the write that made room: a request may write again.
      else queueMicrotask(() => isHeld || goOn());
    },
  };
}
