// What nodes say on stderr, line by line with the name of who said it, and without the secrets of the run. A line that does
// not end is passed on in pieces.

import type { Mask } from './mask.ts';

const MAX_LINE_BYTES = 16 * 1024;
const LINE_FEED = 0x0a;

export interface StderrLines {
  push(name: string, chunk: Buffer): void;
  /** Passes on what is held back. */
  end(): void;
}

interface Speaker {
  filter: ReturnType<Mask['createFilter']>;
  partial: Buffer;
}

export function createStderrLines(mask: Mask, write: (line: string) => void): StderrLines {
  const speakers = new Map<string, Speaker>();

  function speakerOf(name: string): Speaker {
    const known = speakers.get(name);
    if (known !== undefined) return known;
    const speaker: Speaker = { filter: mask.createFilter(), partial: Buffer.alloc(0) };
    speakers.set(name, speaker);
    return speaker;
  }

  function take(name: string, speaker: Speaker, bytes: Buffer): void {
    let rest = speaker.partial.length === 0 ? bytes : Buffer.concat([speaker.partial, bytes]);
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      write(`${name} | ${rest.toString('utf8', 0, end)}\n`);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > MAX_LINE_BYTES) {
      write(`${name} | ${rest.toString('utf8')}\n`);
      rest = rest.subarray(rest.length);
    }
    // A copy: a few bytes must not keep a chunk in memory.
    speaker.partial = Buffer.from(rest);
  }

  return {
    push(name, chunk) {
      const speaker = speakerOf(name);
      take(name, speaker, speaker.filter === undefined ? chunk : speaker.filter.push(chunk));
    },
    end() {
      for (const [name, speaker] of speakers) {
        if (speaker.filter !== undefined) take(name, speaker, speaker.filter.end());
        if (speaker.partial.length > 0) write(`${name} | ${speaker.partial.toString('utf8')}\n`);
      }
      speakers.clear();
    },
  };
}
