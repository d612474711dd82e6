// `node test/stress/cuts.ts [CUTS]` (as root, with iproute2 and nftables; default 100): the line between a controller and a
// daemon, both dist/burrow and each in its own network namespace, is cut while 100 operations run, every other one with a
// protected value: by resets, by taking the link down, by losing every packet. Ends with one line of figures, and with status
// 1 when an operation ran twice or not at all, an outcome is lost, or a protected value arrived twice.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createGatewayClient, type GatewayClient } from '../../src/client/client.ts';
import { throughController } from '../../src/client/controller.ts';
import { CONTROLLER_ADDRESS, createNetwork } from '../network/network.ts';
import { createRandom } from './random.ts';

const BINARY = process.env['BURROW_BINARY'] ?? new URL('../../dist/burrow', import.meta.url).pathname;
const OPERATIONS = 100;
const cuts = Number(process.argv[2] ?? 100);
/** Few lines are lost to silence: each is noticed only after half a minute. */
const silences = new Set(cuts >= 50 ? [Math.floor(cuts / 2), cuts - 1] : []);
const SILENCE_MS = 50_000;
/** As long as the cuts take, so that operations run at each of them. */
const LONGEST_OPERATION_S = cuts * 0.55 + (silences.size * SILENCE_MS) / 1_000;
const PORT = 7443;
const SECRET = 'protected-value-of-the-operation';

const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const random = createRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'burrow-cuts-'));
const socket = join(directory, 'op.sock');
const network = createNetwork();
const programs: ChildProcess[] = [];
const tries = { disconnected: 0, forbidden: 0, inProgress: 0, away: 0, replayed: 0 };

function start(host: 'controller' | 'gateway', args: readonly string[], logName: string): ChildProcess {
  const [file, ...others] = network.on(host, [BINARY, ...args]);
  const child = spawn(file, others, { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr?.on('data', (chunk: Buffer) => (logs[logName] = (logs[logName] ?? '') + chunk.toString()));
  programs.push(child);
  return child;
}

const logs: Record<string, string> = {};

async function until(what: string, probe: () => boolean): Promise<void> {
  for (let tenth = 0; !probe(); tenth += 1) {
    if (tenth > 300) throw new Error(`30 s went by while waiting until ${what}; ${JSON.stringify(logs)}`);
    await delay(100);
  }
}

async function connectHosts(): Promise<void> {
  const state = (name: string): string[] => ['--state-dir', join(directory, name)];
  start(
    'controller',
    ['controller', 'serve', '--listen', `${CONTROLLER_ADDRESS}:${PORT}`, '--socket', socket, ...state('ctl')],
    'controller',
  );
  await until('the controller listens', () => (logs['controller'] ?? '').includes('Listening for gateways'));
  start(
    'gateway',
    [
      'daemon',
      '--controller',
      `tls://${CONTROLLER_ADDRESS}:${PORT}`,
      '--gateway-id',
      'web-1',
      ...state('gw'),
    ],
    'gateway',
  );
  await until('the gateway waits', () => (logs['controller'] ?? '').includes('waits for approval'));
  spawnSync(BINARY, ['controller', 'approve', 'web-1', '--socket', socket]);
  await until('the gateway is connected', () => (logs['gateway'] ?? '').includes('Connected to controller'));
}

/** Sends one operation until its outcome is there, as an operator would. */
async function operate(client: GatewayClient, index: number): Promise<string> {
  const operationId = `op-${index}`;
  const seconds = (random() * LONGEST_OPERATION_S).toFixed(1);
  const command = `printf '%s' "$TOKEN" | wc -c >> ${directory}/${index}; sleep ${seconds}; echo out-${index}`;
  let withValues = index % 2 === 0;
  for (;;) {
    const params = {
      operationId,
      command,
      timeoutMs: 300_000,
      ...(withValues ? { protectedValues: { TOKEN: SECRET } } : {}),
    };
    const answer = await client.execute('process.exec', params, { onAccepted: () => (withValues = false) });
    if (answer.status === 'ok') {
      if (answer.result['replay'] === true) tries.replayed += 1;
      const { stdout } = answer.result['outcome'] as { stdout: string };
      return stdout;
    }
    if (answer.status === 'unreachable') throw new Error(answer.reason);
    count(answer.error.code);
    if (
      answer.error.code === 'protected_redelivery_forbidden' ||
      answer.error.code === 'operation_in_progress'
    )
      withValues = false;
    await delay(300);
  }
}

function count(code: string): void {
  if (code === 'gateway_disconnected') tries.disconnected += 1;
  else if (code === 'protected_redelivery_forbidden') tries.forbidden += 1;
  else if (code === 'operation_in_progress') tries.inProgress += 1;
  else if (code === 'gateway_not_connected' || code === 'gateway_not_ready') tries.away += 1;
  else throw new Error(`Unexpected code ${code}`);
}

async function cut(index: number): Promise<void> {
  if (silences.has(index)) {
    network.setSilent(true);
    await delay(SILENCE_MS);
    return network.setSilent(false);
  }
  if (index % 5 === 0) {
    network.setLink(false);
    await delay(random() * 300);
    network.setLink(true);
  }
  network.reset(PORT);
  await delay(100 + random() * 600);
}

async function check(outcomes: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, stdout] of outcomes.entries()) {
    if (stdout !== `out-${index}\n`) problems.push(`op-${index} ended with ${JSON.stringify(stdout)}`);
    const ran = readFileSync(join(directory, String(index)), 'utf8');
    const expected = `${index % 2 === 0 ? SECRET.length : 0}\n`;
    if (ran !== expected)
      problems.push(`op-${index} wrote ${JSON.stringify(ran)}, not ${JSON.stringify(expected)}`);
  }
  if (JSON.stringify(logs).includes(SECRET)) problems.push('a log holds the protected value');
  return problems;
}

async function main(): Promise<void> {
  await connectHosts();
  const client = createGatewayClient(throughController(socket, 'web-1'));
  const beganAtMs = performance.now();
  const running = Promise.all(Array.from({ length: OPERATIONS }, (_, index) => operate(client, index)));
  await delay(500);
  for (let index = 0; index < cuts; index += 1) await cut(index);
  const problems = await check(await running);
  await client.close();
  const connections = (logs['gateway'] ?? '').split('Connected to controller').length - 1;
  console.log(
    `seed ${seed}: ${cuts} cuts, ${connections} connections, ${OPERATIONS} operations, ${JSON.stringify(tries)}, ` +
      `${problems.length} problems, ${Math.round((performance.now() - beganAtMs) / 1_000)} s`,
  );
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

try {
  await main();
} finally {
  for (const program of programs) {
    const ended = program.exitCode === null ? once(program, 'exit') : undefined;
    program.kill('SIGTERM');
    await ended;
  }
  network.close();
  rmSync(directory, { recursive: true, force: true });
}
