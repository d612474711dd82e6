// Notices a peer that vanished without a word. An idle connection is probed by the kernel (TCP keepalive). While bytes wait for
// an acknowledgement it sends no such probes and repeats them for a quarter of an hour; TCP_USER_TIMEOUT, which would shorten
// that, cannot be set from Node.js. So the kernel's own count of repetitions is looked at, and only when there is a reason.

import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../support/clock.ts';

/** Node probes every second from then on and gives up after ten: a dead idle line is noticed within about 25 s. */
export const KEEPALIVE_AFTER_MS = 15_000;
const LOOK_EVERY_MS = 5_000;
/** Repeating without an answer for this long, over all looks, is a dead line: noticed within 30 s. */
const DEAD_AFTER_MS = 20_000;

export interface PeerWatchDeps {
  clock: Clock;
  /** Repetitions of the oldest unacknowledged segment since the last acknowledgement; undefined when it cannot be told. */
  readRepetitions(socket: Socket): number | undefined;
}

export interface PeerWatch {
  close(): void;
}

export function watchPeer(socket: Socket, onDead: () => void, deps: PeerWatchDeps): PeerWatch {
  let timer: Timer;
  let bytesRead = socket.bytesRead;
  let bytesWritten = socket.bytesWritten;
  let isAwaiting = false;
  let repetitions = 0;
  let silentSinceMs: number | undefined;

  const isRepeating = (): boolean => {
    if (socket.bytesWritten !== bytesWritten) isAwaiting = true;
    bytesWritten = socket.bytesWritten;
    // Whatever the peer says proves that it is there; without anything written there is nothing to repeat.
    if (socket.bytesRead !== bytesRead) isAwaiting = false;
    bytesRead = socket.bytesRead;
    if (!isAwaiting) return false;
    const before = repetitions;
    repetitions = deps.readRepetitions(socket) ?? 0;
    return repetitions > 0 && repetitions >= before;
  };
  const look = (): void => {
    timer = deps.clock.startTimer(LOOK_EVERY_MS, look, { background: true });
    if (!isRepeating()) {
      silentSinceMs = undefined;
      return;
    }
    silentSinceMs ??= deps.clock.monotonicMs();
    if (deps.clock.monotonicMs() - silentSinceMs >= DEAD_AFTER_MS) onDead();
  };
  timer = deps.clock.startTimer(LOOK_EVERY_MS, look, { background: true });
  return { close: () => timer.cancel() };
}

/** From /proc/net/tcp (proc(5)): the column `retrnsmt` of the line with the ports of this socket. */
export function readKernelRepetitions(socket: Socket): number | undefined {
  const { localPort, remotePort } = socket;
  if (localPort === undefined || remotePort === undefined) return undefined;
  const ports = new RegExp(
    `^ *\\d+: [0-9A-F]+:${portText(localPort)} [0-9A-F]+:${portText(remotePort)} 01 \\S+ \\S+ ([0-9A-F]+) `,
    'm',
  );
  const count = ports.exec(readTable(socket.localFamily === 'IPv6' ? 'tcp6' : 'tcp'))?.[1];
  return count === undefined ? undefined : Number.parseInt(count, 16);
}

function portText(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

function readTable(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'latin1');
  } catch {
    // Another system: the line is then noticed as dead when the kernel gives up.
    return '';
  }
}
