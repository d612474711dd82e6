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

/**
 * Interrupted, what runs is cancelled and its evidence printed; interrupted again, the reader of it is not waited for. The end
 * of what runs is, always: it comes within a second or so, and leaving earlier would leave a stubborn process behind.
 */
export async function finishUnlessInterrupted(
  finished: Promise<number>,
  { interruption, stop, system }: { interruption: Interruption; stop: () => Promise<void>; system: System },
): Promise<number> {
  const isDone = finished.then(() => undefined);
  const interruptedBy = await Promise.race([isDone, interruption.first]);
  if (interruptedBy === undefined) return finished;
  await stop();
  const isWritten = new Promise<true>((resolve) => {
    system.stdout.write('', () => resolve(true));
  });
  if ((await Promise.race([isWritten, interruption.second])) !== true) system.abandonStdout();
  return interruptedBy;
}
