// Frames out to a stream: small ones of one turn leave together, large ones are encoded once, into memory that is used
// again. A reader that does not keep up is noticed. Nothing is dropped; what waits is bounded by the sender, which is
// told to hold back.

import type { Writable } from 'node:stream';
import type { Frame } from '../protocol/envelopes.ts';
import { releaseBytes } from '../support/release-bytes.ts';

/** Beyond this much unsent text the work that writes is held back, so that its children block on their pipes. */
const SATURATED_CHARACTERS = 1024 * 1024;
/** Beyond this much no request is taken either: a peer that asks and never reads must not fill the memory. */
const OVERFULL_CHARACTERS = 16 * 1024 * 1024;
/** Frames below this are joined into one write. */
const JOIN_BELOW_CHARACTERS = 16 * 1024;
/** Holds the frame of a full pipe read (64 KiB) of text with some escapes. */
const SCRATCH_BYTES = 96 * 1024;
/** More scratch buffers than this are freed: 1.5 MiB are kept at most. */
const MAX_SCRATCH_BUFFERS = 16;

export interface FrameWriter {
  send(frame: Frame): void;
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
  const scratch: Buffer[] = [];
  let joined = '';
  let waitingCharacters = 0;

  const account = (characters: number): void => {
    waitingCharacters += characters;
    saturation(waitingCharacters);
    overflow(waitingCharacters);
  };
  const flush = (): void => {
    if (joined === '') return;
    const text = joined;
    joined = '';
    if (output.writable) output.write(text, 'utf8', () => account(-text.length));
    else account(-text.length);
  };
  const writeLarge = (parts: readonly (string | Buffer)[], characters: number): void => {
    flush();
    if (!output.writable) return account(-characters);
    const sizeBytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const isScratch = sizeBytes <= SCRATCH_BYTES;
    const buffer =
      (isScratch ? scratch.pop() : undefined) ??
      Buffer.allocUnsafeSlow(isScratch ? SCRATCH_BYTES : sizeBytes);
    const end = parts.reduce((offset, part) => offset + put(part, buffer, offset), 0);
    output.write(buffer.subarray(0, end), () => {
      if (isScratch && scratch.length < MAX_SCRATCH_BUFFERS) scratch.push(buffer);
      else releaseBytes(buffer);
      account(-characters);
    });
  };

  return {
    send(frame) {
      const parts = typeof frame === 'string' ? [frame] : frame;
      const characters = parts.reduce((sum, part) => sum + part.length, 0);
      account(characters);
      if (characters >= JOIN_BELOW_CHARACTERS) return writeLarge(parts, characters);
      if (joined === '') queueMicrotask(flush);
      for (const part of parts) joined += part;
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

function put(part: string | Buffer, buffer: Buffer, offset: number): number {
  return typeof part === 'string' ? buffer.write(part, offset) : part.copy(buffer, offset);
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
