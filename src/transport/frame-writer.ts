// Frames out to a stream: those of one turn leave together, and a reader that does not keep up is noticed.
// Nothing is dropped and nothing is copied twice; what waits is bounded by the sender, which is told to hold back.

import type { Writable } from 'node:stream';

/** Beyond this much unsent text the work that writes is held back, so that its children block on their pipes. */
const SATURATED_CHARACTERS = 1024 * 1024;
/** Beyond this much no request is taken either: a peer that asks and never reads must not fill the memory. */
const OVERFULL_CHARACTERS = 16 * 1024 * 1024;
/** Frames below this are joined into one write; a larger one is written by itself, uncopied. */
const JOIN_BELOW_CHARACTERS = 16 * 1024;

export interface FrameWriter {
  send(frame: string): void;
  /** Resolves when everything sent so far has been handed to the operating system, or the stream is gone. */
  flushed(): Promise<void>;
}

/** Each is called on a change only; a level is left when half of it has gone out. */
export interface FrameWriterEvents {
  onSaturated(saturated: boolean): void;
  onOverfull(overfull: boolean): void;
}

export function createFrameWriter(output: Writable, events: FrameWriterEvents): FrameWriter {
  const saturation = createLevel(SATURATED_CHARACTERS, events.onSaturated);
  const overflow = createLevel(OVERFULL_CHARACTERS, events.onOverfull);
  let joined = '';
  let waitingCharacters = 0;

  const account = (characters: number): void => {
    waitingCharacters += characters;
    saturation(waitingCharacters);
    overflow(waitingCharacters);
  };
  const write = (text: string): void => {
    if (output.writable) output.write(text, 'utf8', () => account(-text.length));
    else account(-text.length);
  };
  const flush = (): void => {
    if (joined === '') return;
    const text = joined;
    joined = '';
    write(text);
  };

  return {
    send(frame) {
      account(frame.length);
      if (frame.length >= JOIN_BELOW_CHARACTERS) {
        flush();
        return write(frame);
      }
      if (joined === '') queueMicrotask(flush);
      joined += frame;
    },
    flushed() {
      flush();
      if (!output.writable) return Promise.resolve();
      return new Promise((resolve) => {
        output.once('close', resolve);
        output.write('', () => {
          output.removeListener('close', resolve);
          resolve();
        });
      });
    },
  };
}

/** Reports when a quantity rises over a limit, and when it has fallen to half of it again. */
function createLevel(limit: number, onChange: (over: boolean) => void): (quantity: number) => void {
  let over = false;
  return (quantity) => {
    if (over ? quantity > limit / 2 : quantity <= limit) return;
    over = !over;
    onChange(over);
  };
}
