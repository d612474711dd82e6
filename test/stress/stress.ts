// `npm run stress [SEED]`: many operations in a row, then kills with -9 at random moments while operations run. Ends with one
// line of figures, and with status 1 when an answered outcome is lost, a file is damaged, or anything is left behind.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { JOURNAL_MAX_ENTRIES } from '../../src/protocol/defaults.ts';
import { processesWith, type StressDaemon, startDaemon } from './daemon.ts';
import { createRandom } from './random.ts';

const OPERATIONS = 5_000;
const KILLS = 200;
const AT_ONCE = 16;
/** From the first operation of a life to its kill. */
const MAX_LIFE_MS = 400;
/** Outcomes expire after five minutes; older ones are not asked for. */
const MAX_AGE_MS = 4 * 60_000;
const PROGRESS_EVERY_MS = 10_000;
const OUTPUT_SIZES_BYTES = [0, 10, 1_000, 70_000];

/** An outcome whose response came, and the request to send again. */
interface Answered {
  params: Record<string, unknown>;
  outcome: unknown;
  life: number;
  atMs: number;
}

const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31);
const random = createRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'burrow-stress-'));
const stateDirectory = join(directory, 'state');
/** In the command line of every child, so that a stray is found. */
const mark = `stress-${process.pid}-${seed}`;
const problems: string[] = [];
const beganAtMs = performance.now();
let progressAtMs = beganAtMs;

function problem(text: string): void {
  problems.push(text);
  process.stderr.write(`PROBLEM: ${text}\n`);
}

function progress(text: string): void {
  if (performance.now() - progressAtMs < PROGRESS_EVERY_MS) return;
  progressAtMs = performance.now();
  process.stderr.write(`${Math.round((progressAtMs - beganAtMs) / 1_000)} s: ${text}\n`);
}

async function runInARow(): Promise<{ perSecond: number; peakMiB: number }> {
  const daemon = await startDaemon(stateDirectory);
  const run = (operationId: string) =>
    daemon.client.execute('process.exec', { operationId, executable: '/bin/true' });
  await run('warm-up');
  const descriptors = daemon.openDescriptors();
  const startedAtMs = performance.now();
  for (let n = 0; n < OPERATIONS; n += 1) {
    const answer = await run(`row-${n}`);
    const outcome = answer.status === 'ok' ? (answer.result['outcome'] as { exitCode: number }) : undefined;
    if (outcome?.exitCode !== 0) problem(`row-${n}: ${JSON.stringify(answer).slice(0, 300)}`);
    progress(`${n} operations in a row`);
  }
  const perSecond = OPERATIONS / ((performance.now() - startedAtMs) / 1_000);
  const more = daemon.openDescriptors() - descriptors;
  if (more > 0) problem(`${more} descriptors more after ${OPERATIONS} operations`);
  const peakMiB = daemon.peakMiB();
  await daemon.client.close();
  return { perSecond, peakMiB };
}

async function killAgainAndAgain(): Promise<{ answered: number; replayed: number }> {
  const answered: Answered[] = [];
  let replayed = 0;
  for (let life = 0; life < KILLS; life += 1) {
    const daemon = await startDaemon(stateDirectory);
    replayed += await checkReplays(daemon, answered);
    await liveAndDie(daemon, life, answered);
    checkFiles();
    progress(`${life} kills, ${answered.length} outcomes answered, ${replayed} replays`);
  }
  const daemon = await startDaemon(stateDirectory);
  replayed += await checkReplays(daemon, answered);
  await daemon.client.close();
  return { answered: answered.length, replayed };
}

async function liveAndDie(daemon: StressDaemon, life: number, answered: Answered[]): Promise<void> {
  const killed = delay(random() * MAX_LIFE_MS).then(() => process.kill(daemon.pid, 'SIGKILL'));
  let isAlive = true;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (isAlive) {
      const params = requestFor(`life-${life}-${next++}`);
      const answer = await daemon.client.execute('process.exec', params);
      if (answer.status === 'unreachable') isAlive = false;
      else if (answer.status === 'refused') problem(`refused: ${JSON.stringify(answer)}`);
      else {
        const { outcome, replay, journaled } = answer.result;
        if (replay !== false || journaled === false) problem(JSON.stringify(answer).slice(0, 300));
        answered.push({ params, outcome, life, atMs: performance.now() });
      }
    }
  };
  await Promise.all([killed, ...Array.from({ length: AT_ONCE }, lane)]);
  await daemon.client.close();
}

/** Some take a while, so that a kill finds every stage of an operation. */
function requestFor(operationId: string): Record<string, unknown> {
  const size = OUTPUT_SIZES_BYTES[Math.floor(random() * OUTPUT_SIZES_BYTES.length)] ?? 0;
  const command = `: ${mark}; echo ${operationId}; head -c ${size} /dev/zero | tr '\\0' x`;
  return { operationId, command: random() < 0.1 ? `sleep 0.1; ${command}` : command };
}

/** Every outcome that was answered comes back as it was, from a journal that is well. */
async function checkReplays(daemon: StressDaemon, answered: Answered[]): Promise<number> {
  const health = await daemon.client.call('health');
  const journal = health.status === 'ok' ? (health.result['journal'] as Record<string, unknown>) : {};
  if (journal['state'] !== 'ok' || !isDeepStrictEqual(journal['warnings'], []))
    problem(`journal after a kill: ${JSON.stringify(health)}`);
  const kept = stillKept(answered);
  for (const { params, outcome } of kept) {
    const answer = await daemon.client.execute('process.exec', params);
    const isSame =
      answer.status === 'ok' &&
      answer.result['replay'] === true &&
      isDeepStrictEqual(answer.result['outcome'], outcome);
    if (!isSame) problem(`lost ${params['operationId']}: ${JSON.stringify(answer).slice(0, 300)}`);
  }
  return kept.length;
}

/** Those that no later outcome can have pushed out: each kill may have left some in the journal that were never answered. */
function stillKept(answered: readonly Answered[]): readonly Answered[] {
  const newest = answered.at(-1)?.life ?? 0;
  let count = 0;
  let start = answered.length;
  for (; start > 0; start -= 1) {
    const candidate = answered[start - 1];
    if (candidate === undefined || performance.now() - candidate.atMs > MAX_AGE_MS) break;
    count += 1;
    if (count + (newest - candidate.life + 1) * AT_ONCE > JOURNAL_MAX_ENTRIES) break;
  }
  return answered.slice(start);
}

function checkFiles(): void {
  const damaged = readdirSync(stateDirectory).filter((name) => name.includes('damaged'));
  if (damaged.length > 0) problem(`damaged files: ${damaged.join(', ')}`);
}

async function checkLeftovers(): Promise<void> {
  const names = readdirSync(stateDirectory).filter((name) => name.startsWith('operations'));
  if (!isDeepStrictEqual(names, ['operations.json'])) problem(`files left: ${names.join(', ')}`);
  const strays = readdirSync(stateDirectory).filter((name) => /tmp|stale/.test(name));
  if (strays.length > 0) problem(`temporary files left: ${strays.join(', ')}`);
  JSON.parse(readFileSync(join(stateDirectory, 'operations.json'), 'utf8'));
  // Children of a killed daemon end by themselves, soon.
  for (let tries = 0; tries < 50 && processesWith(mark).length > 0; tries += 1) await delay(100);
  const left = [...processesWith(mark), ...processesWith(stateDirectory)];
  if (left.length > 0) problem(`processes left: ${left.join(', ')}`);
}

async function main(): Promise<void> {
  try {
    const row = await runInARow();
    const kills = await killAgainAndAgain();
    await checkLeftovers();
    const seconds = Math.round((performance.now() - beganAtMs) / 1_000);
    process.stdout.write(
      `${OPERATIONS} operations in a row (${Math.round(row.perSecond)}/s, peak ${Math.round(row.peakMiB)} MiB), ` +
        `${KILLS} kills with ${kills.answered} outcomes answered and ${kills.replayed} replays checked: ` +
        `${problems.length} problems, ${seconds} s, seed ${seed}\n`,
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.exitCode = problems.length === 0 ? 0 : 1;
}

await main();
