// `node test/stress/line-cuts.ts [SEED]` (as root, with iproute2): the line between controller and gateway is cut 100 times while
// 100 operations run, by resets, by taking the link down and by losing every packet. Ends with one line of figures, and with
// status 1 when an operation ran twice or not at all, or an outcome is lost.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuthority } from '../transport/tls/certificates.ts';
import { type Peer, startController, type TestController } from '../transport/tls/controller.ts';
import { createRandom } from './random.ts';

const BINARY = process.env['BURROW_BINARY'] ?? new URL('../../dist/burrow', import.meta.url).pathname;
const OPERATIONS = 100;
const CUTS = 100;
/** Few lines are lost to silence: each is noticed only after half a minute. */
const SILENCES = 2;
const NAMESPACE = `burrow-${process.pid}`;
const [NEAR, FAR] = ['10.231.77.1', '10.231.77.2'];
const [NEAR_LINK, FAR_LINK] = [`bn${process.pid}`, `bf${process.pid}`];
const NOBODY = '02:00:00:00:00:01';

const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31);
const random = createRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'burrow-cuts-'));
const outcomes = new Map<string, string>();

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

function setUp(): void {
  ip('netns', 'add', NAMESPACE);
  ip('link', 'add', NEAR_LINK, 'type', 'veth', 'peer', 'name', FAR_LINK);
  ip('link', 'set', FAR_LINK, 'netns', NAMESPACE);
  ip('addr', 'add', `${NEAR}/24`, 'dev', NEAR_LINK);
  ip('link', 'set', NEAR_LINK, 'up');
  ip('-n', NAMESPACE, 'addr', 'add', `${FAR}/24`, 'dev', FAR_LINK);
  ip('-n', NAMESPACE, 'link', 'set', FAR_LINK, 'up');
}

/** Every packet goes to a machine that does not exist. */
function silence(silent: boolean): void {
  if (!silent) return ip('neigh', 'del', FAR, 'dev', NEAR_LINK);
  ip('neigh', 'replace', FAR, 'lladdr', NOBODY, 'nud', 'permanent', 'dev', NEAR_LINK);
}

function reset(far: TestController): void {
  for (const socket of far.sockets) socket.resetAndDestroy();
}

async function cut(how: 'reset' | 'link' | 'silence', far: TestController): Promise<void> {
  if (how === 'reset') return reset(far);
  if (how === 'link') {
    ip('link', 'set', NEAR_LINK, 'down');
    // The controller gives up at once and cannot say so; the gateway learns it when the link is back.
    reset(far);
    await delay(random() * 200);
    return ip('link', 'set', NEAR_LINK, 'up');
  }
  silence(true);
  reset(far);
  await delay(31_000);
  silence(false);
}

function ask(peer: Peer): void {
  for (let index = 0; index < OPERATIONS; index += 1) {
    const id = `op-${index}`;
    if (outcomes.has(id)) continue;
    const command = `echo ran >> ${directory}/${index}; sleep ${5 + (index % 80)}; echo out-${index}`;
    peer.send({ id, method: 'process.exec', params: { operationId: id, command, timeoutMs: 200_000 } });
  }
}

async function run(far: TestController): Promise<void> {
  for (let line = 0; line <= CUTS || outcomes.size < OPERATIONS; line += 1) {
    const peer = await far.next();
    const isGone = (): boolean => peer.socket.destroyed;
    if (isGone()) continue;
    await peer.admit(`c${line}`).catch(() => {});
    ask(peer);
    const lifeMs = line > CUTS ? 1_000 : random() * 400;
    await Promise.race([peer.closed, delay(lifeMs)]);
    for (const message of peer.messages) {
      if (message.type === 'response' && message.ok)
        outcomes.set(message.requestId, message.result.outcome.stdout);
    }
    const isSilence = line % (CUTS / SILENCES) === 20 && line < CUTS;
    await cut(isSilence ? 'silence' : random() < 0.5 ? 'link' : 'reset', far);
  }
}

function findProblems(): string[] {
  return Array.from({ length: OPERATIONS }, (_, index) => index).flatMap((index) => {
    const ran = readFileSync(join(directory, String(index)), 'utf8');
    const isRight = ran === 'ran\n' && outcomes.get(`op-${index}`) === `out-${index}\n`;
    return isRight
      ? []
      : [`op-${index}: ran ${JSON.stringify(ran)}, outcome ${JSON.stringify(outcomes.get(`op-${index}`))}`];
  });
}

setUp();
let child: ChildProcess | undefined;
try {
  const authority = createAuthority(directory);
  const far = await startController(authority.issue('controller', { names: `IP:${NEAR}` }), NEAR);
  const args = ['--controller', far.url, '--gateway-id', 'host-1', '--ca', authority.certFile];
  child = spawn(
    'ip',
    ['netns', 'exec', NAMESPACE, BINARY, 'daemon', ...args, '--state-dir', join(directory, 'state')],
    {
      env: { ...process.env, BURROW_GATEWAY_ENROLLMENT_TOKEN: 'token' },
      stdio: 'ignore',
    },
  );
  const beganAtMs = performance.now();
  await run(far);
  const problems = findProblems();
  for (const problem of problems) process.stderr.write(`PROBLEM: ${problem}\n`);
  process.stdout.write(
    `seed ${seed}: ${OPERATIONS} operations, ${CUTS} cuts (${SILENCES} by silence), ${far.peers.length} connections, ${Math.round((performance.now() - beganAtMs) / 1_000)} s, ${problems.length} problems\n`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
  await far.close();
} finally {
  child?.kill('SIGTERM');
  ip('netns', 'del', NAMESPACE);
  rmSync(directory, { recursive: true, force: true });
}
