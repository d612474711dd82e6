import { expect, it } from 'vitest';
import type { Connection } from '../../../src/gateway/connection.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { createTlsWorld } from './world.ts';

const world = createTlsWorld();

const ANSWER_CHARACTERS = 1024 * 1024;
/** One record of TLS, so that they arrive as one chunk. */
const REQUESTS = 400;

/** Answers every line with 1 MiB, at once. */
function talkative(seen: string[]): Gateway {
  return {
    connect: (connection: Connection) => ({
      receive(line) {
        seen.push(line.toString());
        connection.send(`${'x'.repeat(ANSWER_CHARACTERS)}\n`);
      },
      receiveOversized: () => {},
      setSaturated: () => {},
      idle: () => Promise.resolve(),
    }),
    stop: () => Promise.resolve(),
  };
}

it('takes no more of a chunk than its answers have room; the rest follows when the peer reads', async () => {
  const far = await world.controller();
  const seen: string[] = [];
  await world.gatewayOf(far.url, { gateway: talkative(seen) });
  const peer = await far.next();
  await peer.admit('c1');
  peer.socket.removeAllListeners('data');
  peer.socket.pause();
  const lines = Array.from({ length: REQUESTS }, (_, index) => `{"id":${index},"method":"health"}`);
  peer.send(`${lines.join('\n')}\n`);
  await expect.poll(() => seen.length, { timeout: 5_000 }).toBeGreaterThan(15);
  // 16 Mi characters may wait; what the kernel takes beyond them is a few more.
  await expect.poll(settled(seen), { timeout: 5_000, interval: 200 }).toBe(true);
  expect(seen.length).toBeLessThan(40);

  peer.socket.on('data', () => {});
  peer.socket.resume();
  await expect.poll(() => seen.length, { timeout: 15_000 }).toBe(REQUESTS);
  expect(seen).toEqual(lines);
});

/** Whether none came since it was asked before. */
function settled(seen: readonly string[]): () => boolean {
  let before = -1;
  return () => {
    const isSettled = before === seen.length;
    before = seen.length;
    return isSettled;
  };
}
