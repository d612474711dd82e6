// `node test/stress/herd.ts [DAEMONS]` (default 200): how real daemons come back. Each is a process of dist/burrow, enrolled at
// one dist/burrow controller, which is killed and started again on its port: at once, and after an outage in which the delays
// have grown to their longest. Then a controller that accepts and closes at once stands there. Ends with one line of figures
// for each act, and with status 1 when one does not return in time, too many come at once, or tries are not spread.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuthority } from '../transport/tls/certificates.ts';
import { BINARY, busiestWindow, enrollFleet, type StressController, serveController } from './controller.ts';

const GROUP = 10;
const OUTAGES_MS = [0, 10_000];
/** The longest delay, and the handshakes of all on a processor that others use too. */
const RETURN_LIMIT_MS = 20_000;
const WINDOW_MS = 100;
/** Of all daemons, in one window of 100 ms. */
const MAX_SHARE = 0.25;
const LONGEST_DELAY_MS = 5_000;
/** 100 ms doubles to the longest delay in six tries. */
const TRIES_TO_LONGEST = 6;
const GROWTH_LIMIT_MS = 120_000;
const MEASURED_MS = 10_000;

interface Daemon {
  child: ChildProcess;
  connections: number;
  connectedAtMs: number;
  /** `trying again in`, in order. */
  delaysMs: number[];
}

const count = Number(process.argv[2] ?? 200);
const directory = mkdtempSync(join(tmpdir(), 'burrow-herd-'));
const secret = 'a secret that all daemons share';
const ids = Array.from({ length: count }, (_, index) => `host-${index}`);
const daemons: Daemon[] = [];
const authority = createAuthority(directory);
const issued = authority.issue('controller');
const problems: string[] = [];
let port = 0;

async function serve(): Promise<StressController> {
  const controller = await serveController(directory, port, [
    ...['--cert', issued.certFile, '--key', issued.keyFile],
  ]);
  port = controller.port;
  return controller;
}

function startDaemon(gatewayId: string): Daemon {
  const child = spawn(
    BINARY,
    [
      ...['daemon', '--controller', `tls://127.0.0.1:${port}`, '--gateway-id', gatewayId],
      ...['--ca', authority.certFile, '--state-dir', join(directory, gatewayId)],
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: '/usr/bin:/bin', BURROW_GATEWAY_ENROLLMENT_TOKEN: secret },
    },
  );
  const daemon: Daemon = { child, connections: 0, connectedAtMs: 0, delaysMs: [] };
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    const lines = (text + part).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line.includes('Connected to controller')) {
        daemon.connections += 1;
        daemon.connectedAtMs = performance.now();
      }
      const delayMs = /trying again in (\d+) ms/.exec(line)?.[1];
      if (delayMs !== undefined) daemon.delaysMs.push(Number(delayMs));
    }
  });
  return daemon;
}

async function until(what: string, limitMs: number, probe: () => boolean): Promise<boolean> {
  const deadlineMs = performance.now() + limitMs;
  while (!probe()) {
    if (performance.now() > deadlineMs) {
      problems.push(`${limitMs} ms went by while waiting until ${what}`);
      return false;
    }
    await delay(20);
  }
  return true;
}

async function startAll(): Promise<void> {
  for (let first = 0; first < count; first += GROUP) {
    const group = ids.slice(first, first + GROUP).map(startDaemon);
    daemons.push(...group);
    await until('a group is connected', 30_000, () => group.every(({ connections }) => connections > 0));
  }
}

/** The controller that runs afterwards. */
async function restart(controller: StressController, outageMs: number): Promise<StressController> {
  const before = daemons.map(({ connections }) => connections);
  for (const daemon of daemons) daemon.delaysMs.length = 0;
  await controller.end();
  const endedAtMs = performance.now();
  await delay(outageMs);
  const next = await serve();
  const servedAtMs = performance.now();
  const isBack = (daemon: Daemon, index: number): boolean => daemon.connections > (before[index] ?? 0);
  await until('all are back', RETURN_LIMIT_MS, () => daemons.every(isBack));
  const timesMs = daemons.filter(isBack).map(({ connectedAtMs }) => connectedAtMs - servedAtMs);
  const sorted = timesMs.toSorted((a, b) => a - b).map(Math.round);
  const busiest = busiestWindow(timesMs, WINDOW_MS);
  console.log(
    `away for ${Math.round(servedAtMs - endedAtMs)} ms: ${sorted.length} of ${count} are back, the first ${sorted[0]} ms after it listens, ` +
      `half ${sorted[Math.floor(sorted.length / 2)]} ms, the last ${sorted.at(-1)} ms; at most ${busiest} in ${WINDOW_MS} ms; ` +
      `${(daemons.reduce((sum, { delaysMs }) => sum + delaysMs.length, 0) / count).toFixed(1)} tries each`,
  );
  if (busiest > Math.max(10, count * MAX_SHARE))
    problems.push(`${busiest} of ${count} came within ${WINDOW_MS} ms`);
  return next;
}

/** Accepts and closes at once, on the port of the controller. */
async function refuseAll(): Promise<void> {
  const arrivalsMs: number[] = [];
  for (const daemon of daemons) daemon.delaysMs.length = 0;
  const server = createServer((socket: Socket) => {
    arrivalsMs.push(performance.now());
    socket.on('error', () => {});
    socket.destroy();
  });
  server.listen({ port, host: '127.0.0.1', backlog: 4_096 });
  await once(server, 'listening');
  const beganAtMs = performance.now();
  await until('all delays are at their longest', GROWTH_LIMIT_MS, () =>
    daemons.every(({ delaysMs }) => delaysMs.length > TRIES_TO_LONGEST),
  );
  const fromMs = performance.now();
  const cpuBeforeMs = processorMs();
  const grown = daemons.map(({ delaysMs }) => delaysMs.length);
  await delay(MEASURED_MS);
  const cpuMs = processorMs() - cpuBeforeMs;
  server.close();
  const late = arrivalsMs.filter((timeMs) => timeMs >= fromMs);
  const delaysMs = daemons.flatMap((daemon, index) => daemon.delaysMs.slice(grown[index]));
  const perTenth = Array.from(
    { length: 10 },
    (_, tenth) =>
      delaysMs.filter((ms) => Math.min(9, Math.floor((ms / LONGEST_DELAY_MS) * 10)) === tenth).length /
      delaysMs.length,
  );
  const busiest = busiestWindow(late, WINDOW_MS);
  console.log(
    `accepted and closed: ${arrivalsMs.length - late.length} tries in ${Math.round((fromMs - beganAtMs) / 1_000)} s until all delays are at their longest; ` +
      `then ${(late.length / (MEASURED_MS / 1_000)).toFixed(0)} tries/s at ${(cpuMs / late.length).toFixed(0)} ms of a processor each, at most ${busiest} in ${WINDOW_MS} ms; ` +
      `delays ${Math.min(...delaysMs)} to ${Math.max(...delaysMs)} ms, by tenths of the longest ${perTenth.map((part) => Math.round(part * 100)).join(' ')} %`,
  );
  if (Math.max(...delaysMs) > LONGEST_DELAY_MS) problems.push('A delay is over its cap');
  // A tenth is under the least delay; each of the other nine holds 11 % of a uniform spread.
  if (perTenth.slice(1).some((part) => part < 0.05 || part > 0.2))
    problems.push('The delays are not spread evenly');
  // 200 that wait 2.75 s in the mean make 73 tries a second, 7 in a window.
  if (busiest > Math.max(10, count * MAX_SHARE * 0.5))
    problems.push(`${busiest} tries came within ${WINDOW_MS} ms`);
}

function memoryMiB(): number {
  const kib = daemons.map(({ child }) =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]),
  );
  return kib.reduce((sum, part) => sum + part, 0) / 1_024;
}

/** Of all daemons so far; the kernel counts in hundredths of a second. */
function processorMs(): number {
  return daemons.reduce((sum, { child }) => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);
}

async function endDaemons(): Promise<void> {
  const living = daemons.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  await Promise.all(
    living.map(({ child }) => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      return ended;
    }),
  );
}

async function main(): Promise<void> {
  enrollFleet(directory, ids, secret);
  let controller = await serve();
  try {
    const beganAtMs = performance.now();
    await startAll();
    console.log(
      `${count} daemons are connected after ${Math.round((performance.now() - beganAtMs) / 1_000)} s, ${Math.round(memoryMiB())} MiB`,
    );
    for (const outageMs of OUTAGES_MS) controller = await restart(controller, outageMs);
    await controller.end();
    await refuseAll();
  } finally {
    await controller.end();
    await endDaemons();
    rmSync(directory, { recursive: true, force: true });
  }
  for (const problem of problems) console.error(`PROBLEM: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

await main();
