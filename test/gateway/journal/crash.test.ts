import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type JournalFs, systemJournalFs } from '../../../src/gateway/journal/journal-fs.ts';
import {
  type Call,
  filesIn,
  missing,
  openIn,
  outcomeOf,
  record,
  systemError,
  temporaryDirectory,
} from './journal-kit.ts';

const RECORDER = join(import.meta.dirname, '../../fixtures/record-outcomes.ts');
const KILLS = 32;
/** The recorder holds 20 and has 4 under way. */
const KEPT = 16;
const LONGEST_LIFE_MS = 60;
/** Makes nearly every record start a fold. */
const FOLD_AT_BYTES = 150;
/** So few that the log is soon mostly dead, or it would not be folded. */
const MAX_ENTRIES = 2;

interface Answer {
  id: string;
  isDurable: boolean;
}

interface Fault {
  at: number;
  /** What becomes of the call: `stop` is the machine's end, with half of a write done. */
  kind: 'stop' | 'fail';
}

/** Counts the calls; at the one that is named the process is as good as dead, or the disk refuses once. */
function faultyFs(fault: Fault) {
  const state = { calls: 0, names: [] as Call[], open: new Set<number>() };
  const never = new Promise<never>(() => {});
  let stop = (): void => {};
  const stopped = new Promise<'stopped'>((resolve) => (stop = () => resolve('stopped')));
  const files = new Proxy(systemJournalFs, {
    get(target, call: Call) {
      if (call === 'linkCount') return target.linkCount;
      return async (...args: never[]) => {
        state.calls += 1;
        state.names.push(call);
        if (fault.kind === 'stop' && state.calls > fault.at) return never;
        if (state.calls === fault.at) {
          if (call === 'write') await halfWrite(...(args as unknown as Parameters<JournalFs['write']>));
          if (fault.kind === 'fail') throw systemError('ENOMEM');
          stop();
          return never;
        }
        // The arguments are those of this very call.
        const result = await (target[call] as (...args: never[]) => Promise<unknown>)(...args);
        if (call === 'open') state.open.add(result as number);
        if (call === 'close') state.open.delete(args[0] as unknown as number);
        return result;
      };
    },
  });
  return { files, state, stopped };
}

async function halfWrite(fd: number, buffer: Buffer, position: number): Promise<void> {
  await systemJournalFs.write(fd, buffer.subarray(0, buffer.length / 2), position);
}

/** Two lives of a journal with folds in each; gives what was answered before the fault ended it. */
async function liveTwice(directory: string, files: JournalFs, answers: Answer[]): Promise<'done'> {
  for (const life of ['a', 'b']) {
    const journal = await openIn(directory, { files, foldAtBytes: FOLD_AT_BYTES, maxEntries: MAX_ENTRIES });
    for (let n = 0; n < 6; n += 1) {
      const id = `${life}${n}`;
      answers.push({ id, isDurable: await record(journal, id, outcomeOf(id)) });
    }
    await journal.close();
  }
  return 'done';
}

async function countCalls(): Promise<number> {
  const { files, state } = faultyFs({ at: Number.POSITIVE_INFINITY, kind: 'stop' });
  await liveTwice(temporaryDirectory(), files, []);
  // A fold at each close takes one rename, one beside the appends two.
  expect(state.names.filter((name) => name === 'rename').length).toBeGreaterThan(5);
  return state.calls;
}

async function survivors(directory: string, answers: Answer[]) {
  // The dead process is this one, so its lock looks held; a real one is covered by the kills below.
  const lock = join(directory, 'operations.lock');
  if (existsSync(lock)) unlinkSync(lock);
  const journal = await openIn(directory);
  const newest = answers.slice(-MAX_ENTRIES).filter(({ isDurable }) => isDurable);
  const lost = await missing(
    journal,
    newest.map(({ id }) => id),
  );
  const { warnings, state } = journal.status();
  await journal.close();
  const left = filesIn(directory).filter((name) => name !== 'operations.json');
  return { lost, warnings, state, left };
}

describe('a crash at each file call of two lives', () => {
  it('loses nothing that was acknowledged and damages nothing', { timeout: 60_000 }, async () => {
    const total = await countCalls();
    for (let at = 1; at <= total; at += 1) {
      const directory = temporaryDirectory();
      const answers: Answer[] = [];
      const { files, state, stopped } = faultyFs({ at, kind: 'stop' });
      await Promise.race([liveTwice(directory, files, answers), stopped]);

      const after = await survivors(directory, answers);

      for (const fd of state.open) closeSync(fd);
      expect({ at, ...after }).toEqual({ at, lost: [], warnings: [], state: 'ok', left: [] });
    }
  });
});

describe('one refusal of each file call of two lives', () => {
  it('loses nothing that was acknowledged and leaves no file behind', { timeout: 60_000 }, async () => {
    const total = await countCalls();
    for (let at = 1; at <= total; at += 1) {
      const directory = temporaryDirectory();
      const answers: Answer[] = [];
      const { files, state } = faultyFs({ at, kind: 'fail' });
      await liveTwice(directory, files, answers);

      const after = await survivors(directory, answers);

      for (const fd of state.open) closeSync(fd);
      const left = after.left.filter((name) => !name.includes('.damaged-'));
      expect({ at, lost: after.lost, state: after.state, left }).toEqual({
        at,
        lost: [],
        state: 'ok',
        left: [],
      });
    }
  });
});

/** Runs the recorder until a random moment after its first outcome; gives what it acknowledged. */
async function recordUntilKilled(directory: string, prefix: string): Promise<string[]> {
  const child = spawn(process.execPath, [RECORDER, directory, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  await once(child.stdout, 'data');
  await delay(Math.random() * LONGEST_LIFE_MS);
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
  return output.split('\n').slice(0, -1);
}

describe('kill -9', () => {
  it(`loses nothing that was acknowledged in ${KILLS} kills at random moments`, {
    timeout: 90_000,
  }, async () => {
    const directory = temporaryDirectory();
    let inFold = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const acknowledged = await recordUntilKilled(directory, `r${round}`);
      if (filesIn(directory).some((name) => /\.(old|tmp)$/.test(name))) inFold += 1;
      // Every third time the next recorder starts on what the killed one left.
      if (round % 3 === 2) continue;

      const journal = await openIn(directory);

      expect(await missing(journal, acknowledged.slice(-KEPT))).toEqual([]);
      expect(journal.status()).toMatchObject({ state: 'ok', warnings: [] });
      if (round % 2 === 0) await journal.close();
      else await journal.close().then(() => expect(filesIn(directory)).toEqual(['operations.json']));
    }
    expect(inFold).toBeGreaterThan(0);
    expect(
      JSON.parse(readFileSync(join(directory, 'operations.json'), 'utf8')).entries.length,
    ).toBeGreaterThan(0);
  });
});
