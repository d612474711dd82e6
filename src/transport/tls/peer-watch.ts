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
  readDelivery(socket: Socket): Delivery | undefined;
}

/** What the kernel knows of the bytes that were sent. */
export interface Delivery {
  unacknowledgedBytes: number;
  /** How often the oldest of them, or a probe for room, was repeated since the peer last answered. */
  repetitions: number;
}

export interface PeerWatch {
  close(): void;
}

export function watchPeer(socket: Socket, onDead: () => void, deps: PeerWatchDeps): PeerWatch {
  let timer: Timer;
  let bytesWritten = socket.bytesWritten;
  let isAwaiting = false;
  let repetitions = 0;
  let silentSinceMs: number | undefined;

  const isRepeating = (): boolean => {
    // Once everything is acknowledged there is nothing to look at until more is written.
    isAwaiting ||= socket.bytesWritten !== bytesWritten;
    bytesWritten = socket.bytesWritten;
    const delivery = isAwaiting ? deps.readDelivery(socket) : undefined;
    const before = repetitions;
    isAwaiting = delivery !== undefined && (delivery.unacknowledgedBytes > 0 || socket.writableLength > 0);
    repetitions = delivery?.repetitions ?? 0;
    return isAwaiting && repetitions > 0 && repetitions >= before;
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

/** From /proc/net/tcp (proc(5)), the line with the ports of this socket: `tx_queue`, `retrnsmt`, and `timeout`, the open probes. */
export function readKernelDelivery(socket: Socket): Delivery | undefined {
  const { localPort, remotePort } = socket;
  if (localPort === undefined || remotePort === undefined) return undefined;
  const ends = `[0-9A-F]+:${portText(localPort)} [0-9A-F]+:${portText(remotePort)}`;
  const line = new RegExp(`^ *\\d+: ${ends} 01 ([0-9A-F]+):\\S+ \\S+ ([0-9A-F]+) +\\d+ +(\\d+) `, 'm').exec(
    readTable(socket.localFamily === 'IPv6' ? 'tcp6' : 'tcp'),
  );
  if (line === null) return undefined;
  return {
    unacknowledgedBytes: Number.parseInt(line[1] ?? '0', 16),
    repetitions: Number.parseInt(line[2] ?? '0', 16) + Number(line[3]),
  };
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
