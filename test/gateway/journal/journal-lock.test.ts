import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { filesIn, manualClock, missing, openIn, record, temporaryDirectory } from './journal-kit.ts';

const RECORDER = join(import.meta.dirname, '../../fixtures/record-outcomes.ts');

async function startRecorder(directory: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [RECORDER, directory, 'other'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.stdout.resume();
  return child;
}

describe('two journals on one directory', () => {
  it('lets the second run in memory, names the first, and takes over when that is killed', async () => {
    const directory = temporaryDirectory();
    const clock = manualClock();
    const holder = await startRecorder(directory);

    const journal = await openIn(directory, { clock });
    expect(journal.status()).toMatchObject({ mode: 'memory', state: 'degraded' });
    expect(journal.status().problem).toContain(`process ${holder.pid}`);
    expect(await record(journal, 'mine')).toBe(false);
    expect(await missing(journal, ['mine'])).toEqual([]);

    const gone = once(holder, 'close');
    holder.kill('SIGKILL');
    await gone;
    clock.advance(5_000);
    await vi.waitFor(() =>
      expect(journal.status()).toMatchObject({ mode: 'disk', state: 'ok', warnings: [] }),
    );
    await journal.close();
    const next = await openIn(directory, { clock });
    expect(await missing(next, ['mine'])).toEqual([]);
    await next.close();
  });

  it('holds also within one process', async () => {
    const directory = temporaryDirectory();
    const first = await openIn(directory);
    const second = await openIn(directory);

    expect(await record(first, 'one')).toBe(true);
    expect(await record(second, 'two')).toBe(false);

    await second.close();
    expect(filesIn(directory)).toEqual(['operations.lock', 'operations.log']);
    await first.close();
    expect(filesIn(directory)).toEqual(['operations.json']);
  });

  it.each([
    ['a process that is gone', (own: object) => JSON.stringify({ ...own, pid: 4_194_304, token: 'x' })],
    [
      'a process id that was used again',
      (own: object) => JSON.stringify({ ...own, startTime: '1', token: 'x' }),
    ],
    ['another boot', (own: object) => JSON.stringify({ ...own, bootId: 'x', token: 'x' })],
    ['nobody: 0 bytes', () => ''],
    ['nobody: garbage', () => '\0\0\0'],
  ])('does not count the lock of %s', async (_, encode) => {
    const directory = temporaryDirectory();
    const sample = await openIn(directory);
    const own = JSON.parse(readFileSync(join(directory, 'operations.lock'), 'utf8'));
    await sample.close();
    writeFileSync(join(directory, 'operations.lock'), encode(own));

    const journal = await openIn(directory);

    expect(journal.status()).toMatchObject({ mode: 'disk', state: 'ok' });
    await journal.close();
    expect(filesIn(directory)).toEqual([]);
  });
});
