import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openJournal } from '../../../src/gateway/journal/journal.ts';
import { type JournalFs, systemJournalFs } from '../../../src/gateway/journal/journal-fs.ts';
import { silentLog } from '../../../src/support/log.ts';
import {
  brokenLogLines,
  filesIn,
  interceptedFs,
  manualClock,
  missing,
  openIn,
  outcomeOf,
  record,
  systemError,
  temporaryDirectory,
} from './journal-kit.ts';

const RETRY_MS = 5_000;

/** A file system of 64 KiB of its own; skipped where mounting is not allowed. */
function mountTmpfs(): string {
  const path = join(temporaryDirectory(), 'small');
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', path]);
  // Registered after the removal of the directory, and such functions run last first.
  onTestFinished(() => void execFileSync('umount', ['-l', path]));
  return path;
}

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/** Fills what is left to the last byte. */
function fill(directory: string): string {
  const path = join(directory, 'filler');
  for (const sizeBytes of [4_096, 512, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(sizeBytes), { flag: 'a' });
    } catch {
      // Full for this size; the next one is smaller.
    }
  }
  return path;
}

const temporaries = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.tmp'));

describe.skipIf(!mayMount())('a full tmpfs of 64 KiB', () => {
  it('answers false, keeps the outcome, and writes it when space returns', async () => {
    const directory = mountTmpfs();
    const clock = manualClock();
    const journal = await openIn(directory, { clock });
    await record(journal, 'before');
    const filler = fill(directory);
    const outcome = outcomeOf('held', 9_000);

    expect(await record(journal, 'held', outcome)).toBe(false);
    expect(await journal.read('held')).toBe(outcome);
    expect(await missing(journal, ['before'])).toEqual([]);
    expect(journal.status()).toMatchObject({ state: 'degraded', problem: expect.stringContaining('ENOSPC') });
    expect(temporaries(directory)).toEqual([]);

    unlinkSync(filler);
    expect(await record(journal, 'after')).toBe(true);
    await vi.waitFor(() => expect(journal.status().state).toBe('ok'));
    await journal.close();
    const next = await openIn(directory, { clock });
    expect(await missing(next, ['before', 'held', 'after'])).toEqual([]);
    expect(await next.read('held')).toBe(outcome);
    await next.close();
  });

  it('recovers by itself, without another operation', async () => {
    const directory = mountTmpfs();
    const clock = manualClock();
    const journal = await openIn(directory, { clock });
    const filler = fill(directory);
    await record(journal, 'held', outcomeOf('held', 9_000));
    unlinkSync(filler);

    clock.advance(RETRY_MS);

    await vi.waitFor(() => expect(journal.status().state).toBe('ok'));
    await journal.close();
  });

  it('starts on a full disk, replays what is there, and leaves no file', async () => {
    const directory = mountTmpfs();
    const first = await openIn(directory);
    await record(first, 'before');
    await first.close();
    fill(directory);
    const names = filesIn(directory);

    const journal = await openIn(directory);
    const isDurable = await record(journal, 'held', outcomeOf('held', 9_000));

    expect(isDurable).toBe(false);
    expect(await missing(journal, ['before', 'held'])).toEqual([]);
    expect(journal.status()).toMatchObject({ state: 'degraded', problem: expect.stringContaining('ENOSPC') });
    await journal.close();
    expect(filesIn(directory)).toEqual(names);
  });

  it('goes on for 500 operations by taking back the space of dead outcomes', async () => {
    const directory = mountTmpfs();
    const clock = manualClock();
    const journal = await openIn(directory, { clock, maxEntries: 4 });
    const answers: boolean[] = [];

    for (let n = 0; n < 500; n += 1) {
      answers.push(await record(journal, `op-${n}`, outcomeOf(`op-${n}`, 1_000)));
      clock.advance(200);
    }

    expect(await missing(journal, ['op-496', 'op-497', 'op-498', 'op-499'])).toEqual([]);
    expect(answers.filter((isDurable) => isDurable).length).toBeGreaterThan(350);
    await journal.close();
    expect(temporaries(directory)).toEqual([]);
  });

  it('runs on a file system that becomes read-only, and recovers', async () => {
    const directory = mountTmpfs();
    const clock = manualClock();
    const first = await openIn(directory, { clock });
    await record(first, 'before');
    await first.close();
    execFileSync('mount', ['-o', 'remount,ro', directory]);

    const journal = await openIn(directory, { clock });
    expect(await record(journal, 'held')).toBe(false);
    expect(await missing(journal, ['before', 'held'])).toEqual([]);
    expect(journal.status()).toMatchObject({
      mode: 'memory',
      state: 'degraded',
      problem: expect.stringContaining('EROFS'),
    });

    execFileSync('mount', ['-o', 'remount,rw', directory]);
    clock.advance(RETRY_MS);
    await vi.waitFor(() => expect(journal.status()).toMatchObject({ mode: 'disk', state: 'ok' }));
    await journal.close();
    const next = await openIn(directory, { clock });
    expect(await missing(next, ['before', 'held'])).toEqual([]);
    await next.close();
  });
});

describe('a directory that cannot be used', () => {
  it('is written anew, with all it held, when somebody removes it', async () => {
    const directory = join(temporaryDirectory(), 'state');
    const first = await openIn(directory);
    await record(first, 'folded');
    await first.close();
    const journal = await openIn(directory);
    await record(journal, 'logged');
    rmSync(directory, { recursive: true });

    expect(await record(journal, 'after')).toBe(true);

    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(journal.status()).toMatchObject({ state: 'ok', warnings: [expect.stringContaining('removed')] });
    await journal.close();
    const next = await openIn(directory);
    expect(await missing(next, ['folded', 'logged', 'after'])).toEqual([]);
    await next.close();
  });

  it('answers false while a removed directory cannot be made again', async () => {
    const parent = join(temporaryDirectory(), 'parent');
    const clock = manualClock();
    const journal = await openIn(join(parent, 'state'), { clock });
    await record(journal, 'logged');
    rmSync(parent, { recursive: true });
    writeFileSync(parent, '');

    expect(await record(journal, 'held')).toBe(false);

    expect(await missing(journal, ['logged', 'held'])).toEqual([]);
    rmSync(parent);
    clock.advance(RETRY_MS);
    await vi.waitFor(() => expect(journal.status().state).toBe('ok'));
    await journal.close();
    const next = await openIn(join(parent, 'state'), { clock });
    expect(await missing(next, ['logged', 'held'])).toEqual([]);
    await next.close();
  });

  it('goes on in a directory that was renamed', async () => {
    const directory = join(temporaryDirectory(), 'state');
    const journal = await openIn(directory);
    renameSync(directory, `${directory}-moved`);

    expect(await record(journal, 'one')).toBe(true);

    await journal.close();
    expect(existsSync(`${directory}-moved`)).toBe(true);
  });
});

describe('a write that stops in the middle', () => {
  it('does not damage the records after it', async () => {
    const directory = temporaryDirectory();
    let bytesLeft = Number.POSITIVE_INFINITY;
    const files: JournalFs = {
      ...systemJournalFs,
      write: async (fd, buffer, position) => {
        if (bytesLeft === 0) throw systemError('EIO');
        const count = await systemJournalFs.write(fd, buffer.subarray(0, bytesLeft), position);
        bytesLeft -= count;
        return count;
      },
    };
    const journal = await openIn(directory, { files });
    await record(journal, 'before');
    bytesLeft = 50;
    expect(await record(journal, 'torn')).toBe(false);
    bytesLeft = Number.POSITIVE_INFINITY;

    expect(await record(journal, 'after')).toBe(true);

    await vi.waitFor(() => expect(journal.status().state).toBe('ok'));
    expect(brokenLogLines(directory)).toEqual([]);
    await journal.close();
    const next = await openIn(directory);
    expect(await missing(next, ['before', 'torn', 'after'])).toEqual([]);
    expect(next.status().warnings).toEqual([]);
    await next.close();
  });

  it('tries again at most once for each operation and every five seconds', async () => {
    const clock = manualClock();
    let writes = 0;
    const files = interceptedFs((call, [fd]) => {
      if (call !== 'write' || typeof fd !== 'number') return;
      writes += 1;
      if (writes > 1) throw systemError('EIO'); // The first write is the lock's.
    });
    const journal = await openIn(temporaryDirectory(), { clock, files });

    for (const id of ['one', 'two', 'three']) expect(await record(journal, id)).toBe(false);

    expect(writes).toBe(1 + 3);
    clock.advance(RETRY_MS);
    await vi.waitFor(() => expect(writes).toBe(1 + 3 + 1));
    clock.advance(RETRY_MS - 1);
    expect(writes).toBe(1 + 3 + 1);
    await journal.close();
  });
});

describe('the close of a journal that the disk refused', () => {
  it.each([
    [['one'], '1 outcome'],
    [['one', 'two'], '2 outcomes'],
  ])('tells how many outcomes are lost: %j', async (ids, count) => {
    const warnings: string[] = [];
    const files = interceptedFs((call) => {
      if (call === 'open') throw systemError('ENOSPC');
    });
    const location = { kind: 'directory', path: temporaryDirectory() } as const;
    const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
    const journal = await openJournal({ location }, { clock: manualClock(), log, files });
    for (const id of ids) await record(journal, id);

    await journal.close();

    expect(warnings.at(-1)).toBe(`Journal closes without ${count} that the disk refused`);
  });
});
