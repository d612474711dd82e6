// A long line on one machine: a TCP relay that hands on every byte, in order, only after a while, both ways, the end of a
// stream as well. What is on the way is bounded, as it is on a real line, so that a sender feels it.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const MAX_BYTES_ON_THE_WAY = 4 * 1024 * 1024;

export interface LongLine {
  port: number;
  /** Connections so far. */
  connections(): number;
}

export interface Delay {
  /** Each way. */
  delayMs: number;
  /** Up to this much more, another for each chunk. */
  jitterMs: number;
}

/** Closed with the test. */
export async function startLongLine(toPort: number, delay: Delay): Promise<LongLine> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    connections += 1;
    const far = connect({ port: toPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
    }
    carry(near, far, delay);
    carry(far, near, delay);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

function carry(from: Socket, to: Socket, { delayMs, jitterMs }: Delay): void {
  let bytesOnTheWay = 0;
  let lastArrivalMs = 0;
  const onTheWay: (() => void)[] = [];
  const later = (act: () => void): void => {
    onTheWay.push(act);
    // Never before what was sent earlier: TCP keeps the order, whichever timer fires first.
    lastArrivalMs = Math.max(lastArrivalMs, performance.now() + delayMs + Math.random() * jitterMs);
    setTimeout(() => onTheWay.shift()?.(), lastArrivalMs - performance.now());
  };
  from.on('data', (chunk: Buffer) => {
    bytesOnTheWay += chunk.length;
    if (bytesOnTheWay > MAX_BYTES_ON_THE_WAY) from.pause();
    later(() =>
      to.write(chunk, () => {
        bytesOnTheWay -= chunk.length;
        if (bytesOnTheWay <= MAX_BYTES_ON_THE_WAY / 2) from.resume();
      }),
    );
  });
  from.on('end', () => later(() => to.end()));
  from.on('close', (hadError) => hadError && later(() => to.destroy()));
}
