// Stops the collecting of an answer that can no longer fit into one frame, so that memory stays bounded whatever the
// request allows. Lists are never cut silently: the answer is the contract's explicit `output_frame_too_large`.

import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { BurrowError } from '../protocol/errors.ts';

/** More entries than this cannot fit: each takes at least 24 bytes of a frame. */
export const MAX_ANSWER_ENTRIES = 100_000;

interface AnswerLimit {
  /** Counts text of the answer. Throws `output_frame_too_large` once it certainly does not fit. */
  add(text: string): void;
}

export function createAnswerLimit(): AnswerLimit {
  let characters = 0;
  return {
    add(text) {
      // Each UTF-16 unit takes at least one byte of JSON, so what is over here is over on the wire.
      characters += text.length;
      if (characters > MAX_FRAME_BYTES) throw new BurrowError('output_frame_too_large');
    },
  };
}
