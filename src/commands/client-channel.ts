// What the client commands share: a gateway to talk to, frames on stdout at the reader's pace, and an end that leaves nothing
// behind when a person or a closed pipe asks for it.

import type { Channel, OpenChannel } from '../client/channel.ts';
import { exitStatusOfSignal } from './evidence-text.ts';
import { EXIT, type System } from './system.ts';

interface PrintingEvents {
  onFrame?(text: string): void;
  onClosed?(reason: string): void;
  /** The reader of stdout cannot take more, or can again. */
  onHeld?(held: boolean): void;
}

/** A channel whose frames go to stdout; while that is full, the gateway is held back. */
export function openPrinting(open: OpenChannel, system: System, events: PrintingEvents): Channel {
  let held = false;
  const hold = (now: boolean): void => {
    held = now;
    if (held) channel.pause();
    else channel.resume();
    events.onHeld?.(held);
  };
  const channel = open({
    onFrame(frame) {
      const text = frame.toString();
      if (system.stdout.writable && !system.stdout.write(`${text}\n`) && !held) {
        hold(true);
        system.stdout.once('drain', () => hold(false));
      }
      events.onFrame?.(text);
    },
    onClosed: (reason) => events.onClosed?.(reason),
  });
  return channel;
}

/** Each resolves to the exit status: of the first signal or a stdout that nobody reads any more, and of a signal after it. */
export interface Interruption {
  first: Promise<number>;
  second: Promise<number>;
}

export function watchInterruption(system: System): Interruption {
  const first = Promise.withResolvers<number>();
  const second = Promise.withResolvers<number>();
  let count = 0;
  const interrupt = (status: number) => (): void => {
    count += 1;
    (count === 1 ? first : second).resolve(status);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    system.onSignal(signal, interrupt(exitStatusOfSignal(signal)));
  system.stdout.once('close', () => first.resolve(EXIT.interrupted));
  return { first: first.promise, second: second.promise };
}

interface Stopping {
  interruption: Interruption;
  stop(): Promise<void>;
  /** Of the target. */
  abandon(): Promise<void>;
  system: System;
}

/**
 * Interrupted, what runs is cancelled and its evidence printed; interrupted again, nothing is waited for: what a private gateway
 * runs is killed, a gateway that lives on ends it by itself.
 */
export async function finishUnlessInterrupted(
  finished: Promise<number>,
  { interruption, stop, abandon, system }: Stopping,
): Promise<number> {
  const isDone = finished.then(() => undefined);
  const interruptedBy = await Promise.race([isDone, interruption.first]);
  if (interruptedBy === undefined) return finished;
  const isWritten = stop().then(
    () => new Promise<true>((resolve) => void system.stdout.write('', () => resolve(true))),
  );
  if ((await Promise.race([isWritten, interruption.second])) !== true) {
    await abandon();
    system.abandonStdout();
  }
  return interruptedBy;
}
