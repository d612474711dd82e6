// Whether anybody is left who could read an answer. An engine that is killed ends nothing behind it; and the end of stdin
// says nothing, for to a one-shot call that comes right after the request. Its end of the stdout socket does: the system
// closes that with the engine, however it ended and whoever inherits its children.

import { fstatSync, writeSync } from 'node:fs';
import type { Clock } from '../../support/clock.ts';
import { READER_CHECK_MS } from '../limits.ts';

const NOTHING = new Uint8Array(0);

/**
 * Calls `onGone` once, at most about a second after the other end of the socket `fd` was closed. It keeps no process alive and
 * costs one system call a second. Anything but a socket is not watched: a file needs no reader, a terminal sends SIGHUP.
 */
export function watchReader(fd: number, clock: Clock, onGone: () => void): void {
  const check = (): void => {
    const state = readerState(fd);
    if (state === 'gone') onGone();
    else if (state === 'there') wait();
  };
  const wait = (): void => void clock.startTimer(READER_CHECK_MS, check, { background: true });
  wait();
}

function readerState(fd: number): 'there' | 'gone' | 'unknown' {
  try {
    if (!fstatSync(fd).isSocket()) return 'unknown';
    // No byte is sent and a full socket does not block; one that lost its other end refuses all the same.
    writeSync(fd, NOTHING);
    return 'there';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EPIPE' || code === 'ECONNRESET') return 'gone';
    return code === 'EAGAIN' ? 'there' : 'unknown';
  }
}
