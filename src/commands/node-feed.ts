// Lines of stdin, each answered by a call and printed: in input order or as answers come, with a bounded number under way.

import type { ResultEnvelope } from '../octonode/octonode.ts';
import { createLineSplitter } from '../protocol/json-lines.ts';
import type { System } from './system.ts';

const MAX_INPUT_LINE_BYTES = 64 * 1024 * 1024;

interface Feed {
  system: System;
  signal: AbortSignal;
  /** Most calls that are started and not printed; stdin waits beyond that. */
  window: number;
  isOrdered: boolean;
}

interface FeedSteps {
  start(line: Buffer): Promise<ResultEnvelope>;
  /** The answer to a line that cannot be taken. */
  refuse(message: string): ResultEnvelope;
  print(envelope: ResultEnvelope): Promise<void>;
}

/** Resolves when every line of stdin is answered and printed, or the signal came and what ran is printed. */
export function eachLine(
  { system, signal, window, isOrdered }: Feed,
  { start, refuse, print }: FeedSteps,
): Promise<void> {
  const { stdin } = system;
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  // The lines of one chunk at most: a chunk may hold more of them than may be started.
  let backlog: (() => Promise<ResultEnvelope>)[] = [];
  let open = 0;
  let hasEnded = false;
  let printed: Promise<void> = Promise.resolve();
  const take = (answered: Promise<ResultEnvelope>): void => {
    open += 1;
    const own = isOrdered ? printed.then(() => answered).then(print) : answered.then(print);
    printed = isOrdered ? own : Promise.all([printed, own]).then(() => undefined);
    own.then(() => {
      open -= 1;
      pump();
    }, reject);
  };
  const pump = (): void => {
    const ready = backlog.splice(0, window - open);
    for (const begin of ready) take(begin());
    if (hasEnded && backlog.length === 0 && open === 0) printed.then(resolve, reject);
    else if (backlog.length === 0 && open < window && !hasEnded) stdin.resume();
    else stdin.pause();
  };
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    lines.end();
    // Stopped from outside: what was not begun is not run.
    if (!stdin.readableEnded) backlog = [];
    stdin.pause();
    pump();
  };
  const lines = createLineSplitter({
    maxLineBytes: MAX_INPUT_LINE_BYTES,
    onLine: (line) => void backlog.push(() => start(line)),
    onOversized: () =>
      void backlog.push(() =>
        Promise.resolve(refuse(`Input line is longer than ${MAX_INPUT_LINE_BYTES} bytes`)),
      ),
  });
  stdin.on('data', (chunk: Buffer) => {
    lines.push(chunk);
    pump();
  });
  stdin.once('end', end);
  stdin.once('error', end);
  signal.addEventListener('abort', end, { once: true });
  // Nobody reads any more (`| head`).
  system.stdout.once('close', end);
  return finished;
}
