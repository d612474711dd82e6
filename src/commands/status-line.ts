// One line on a terminal that is written over as things move on, and gone at the end. Elsewhere it is never seen.

import { stripVTControlCharacters } from 'node:util';
import type { System } from './system.ts';

const DEFAULT_COLUMNS = 80;
const CLEAR = '\r\x1b[K';

export interface StatusLine {
  show(text: string): void;
  clear(): void;
}

export function createStatusLine({ stderr }: System): StatusLine {
  if (stderr.isTTY !== true) return { show() {}, clear() {} };
  let isShown = false;
  return {
    show(text) {
      // A terminal that does not know its width says 0.
      const width = (stderr.columns || DEFAULT_COLUMNS) - 1;
      stderr.write(
        CLEAR +
          stripVTControlCharacters(text)
            .replace(/\p{Cc}/gu, ' ')
            .slice(0, width),
      );
      isShown = true;
    },
    clear() {
      if (isShown) stderr.write(CLEAR);
      isShown = false;
    },
  };
}
