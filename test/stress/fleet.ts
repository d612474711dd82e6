// `node test/stress/fleet.ts [GATEWAYS]` (default 2,000): how much memory of a controller an idle gateway takes, and how the
// arrivals of a fleet spread when its controller restarts. The gateways are fakes in one process that wait between tries as a
// real one does; the controller is dist/burrow. Ends with one line of figures, and with status 1 over the limits.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { hmacProof } from '../../src/protocol/auth.ts';
import { createBackoff } from '../../src/transport/tls/backoff.ts';
import { busiestWindow, enrollFleet, type StressController, serveController } from './controller.ts';

const MAX_KIB_EACH = 60;
const OUTAGE_MS = 2_000;
/** Handshakes at once: the fakes share a core with the controller. */
const AT_ONCE = 50;

const gateways = Number(process.argv[2] ?? 2_000);
const directory = mkdtempSync(join(tmpdir(), 'burrow-fleet-'));
const secret = 'a secret that all fakes share';
const ids = Array.from({ length: gateways }, (_, index) => `host-${index}`);
let controller: StressController;
let port = 0;

async function serve(): Promise<void> {
  controller = await serveController(directory, port);
  port = controller.port;
}

/** Resolves when it is authenticated; undefined when there is no controller. */
function arrive(gatewayId: string): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('error', () => {});
    socket.once('close', () => resolve(undefined));
    let text = '';
    const onData = (chunk: Buffer): void => {
      text += chunk.toString();
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
        const message = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        if (message.type === 'auth.challenge') {
          const proof = hmacProof(secret, { gatewayId, nonce: message.nonce });
          socket.write(`${JSON.stringify({ type: 'auth.response', gatewayId, controllerId: 'c', proof })}\n`);
        } else if (message.type === 'auth.ok') resolve(socket);
        else if (message.method === 'hello') {
          const result = { name: 'fake', version: '0', protocolVersion: '1.0' };
          socket.write(`${JSON.stringify({ type: 'response', requestId: message.id, ok: true, result })}\n`);
        }
      }
    };
    socket.on('data', onData);
  });
}

async function arriveAll(): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  const queue = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const socket = await arrive(id);
      if (socket === undefined) throw new Error(`Gateway ${id} was not let in`);
      sockets.push(socket);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return sockets;
}

function memoryKib(): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${controller.child.pid}/status`, 'utf8'))?.[1]);
}

/** Tries until it is in; the time of each successful arrival, in ms after `sinceMs`. */
async function comeBack(
  id: string,
  sinceMs: number,
): Promise<{ atMs: number; tries: number; socket: TLSSocket }> {
  const backoff = createBackoff(Math.random);
  for (let tries = 1; ; tries += 1) {
    await delay(backoff.nextDelayMs());
    const socket = await arrive(id);
    if (socket !== undefined) return { atMs: performance.now() - sinceMs, tries, socket };
  }
}

async function measure(): Promise<boolean> {
  await serve();
  await delay(1_000);
  const emptyKib = memoryKib();
  const beganAtMs = performance.now();
  const sockets = await arriveAll();
  const arrivalMs = performance.now() - beganAtMs;
  await delay(5_000);
  const eachKib = (memoryKib() - emptyKib) / gateways;
  for (const socket of sockets.slice(200)) socket.destroy();
  await controller.end();
  const outageAtMs = performance.now();
  const returning = ids.slice(-200).map((id) => comeBack(id, outageAtMs));
  await delay(OUTAGE_MS);
  await serve();
  const backAtMs = performance.now() - outageAtMs;
  const back = await Promise.all(returning);
  const timesMs = back.map(({ atMs }) => atMs - backAtMs).toSorted((a, b) => a - b);
  const busiest = busiestWindow(timesMs, 100);
  console.log(
    `${gateways} gateways: ${eachKib.toFixed(1)} KiB each (${Math.round(memoryKib() / 1024)} MiB after a restart with 200), ` +
      `${Math.round(gateways / (arrivalMs / 1_000))} arrivals/s; 200 come back after ${OUTAGE_MS} ms: ` +
      `half by ${Math.round(timesMs[100] ?? 0)} ms, all by ${Math.round(timesMs.at(-1) ?? 0)} ms, at most ${busiest} in 100 ms`,
  );
  for (const { socket } of back) socket.destroy();
  return eachKib < MAX_KIB_EACH && busiest <= 50;
}

async function main(): Promise<void> {
  enrollFleet(directory, ids, secret);
  try {
    process.exitCode = (await measure()) ? 0 : 1;
  } finally {
    await controller.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
process.exit();
