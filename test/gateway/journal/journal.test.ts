import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Journal, openJournal } from '../../../src/gateway/journal/journal.ts';
import { JOURNAL_MAX_ENTRIES, JOURNAL_TTL_MS } from '../../../src/protocol/defaults.ts';
import { silentLog } from '../../../src/support/log.ts';
import {
  DIGEST,
  filesIn,
  type ManualClock,
  manualClock,
  missing,
  openIn,
  outcomeOf,
  record,
  temporaryDirectory,
} from './journal-kit.ts';

const HOUR_MS = 3_600_000;

const kinds: ['memory' | 'directory' | 'file'][] = [['memory'], ['directory'], ['file']];

function open(kind: 'memory' | 'directory' | 'file', clock: ManualClock): Promise<Journal> {
  const directory = temporaryDirectory();
  const path = kind === 'file' ? join(directory, 'own.json') : directory;
  return openJournal({ location: kind === 'memory' ? { kind } : { kind, path } }, { clock, log: silentLog });
}

describe.each(kinds)('openJournal() with %s', (kind) => {
  it('gives back the outcome exactly as it was recorded', async () => {
    const journal = await open(kind, manualClock());
    const outcome = outcomeOf('one', 5_000);

    const isDurable = await record(journal, 'one', outcome);

    expect(isDurable).toBe(true);
    expect(journal.digestOf('one')).toBe(DIGEST);
    expect(await journal.read('one')).toBe(outcome);
    expect(journal.status()).toMatchObject({ entries: 1, state: 'ok', warnings: [] });
    await journal.close();
  });

  it.each(['"', '\\', '","result":{', '{"crc32":"', '\u0000', '\ud800', '__proto__', 'ü'.repeat(256)])(
    'takes the id %j',
    async (id) => {
      const journal = await open(kind, manualClock());

      await record(journal, id, '{"n":1}');

      expect(await journal.read(id)).toBe('{"n":1}');
      await journal.close();
    },
  );

  it('keeps an outcome for five minutes from completion, and a replay refreshes nothing', async () => {
    const clock = manualClock();
    const journal = await open(kind, clock);
    await record(journal, 'one');

    clock.advance(JOURNAL_TTL_MS - 1);
    expect(await missing(journal, ['one'])).toEqual([]);
    clock.advance(1);

    expect(journal.digestOf('one')).toBeUndefined();
    expect(await journal.read('one')).toBeUndefined();
    expect(journal.status().entries).toBe(0);
    await journal.close();
  });

  it.each([[HOUR_MS], [-HOUR_MS]])('is not moved by a wall clock that steps %d ms', async (stepMs) => {
    const clock = manualClock();
    const journal = await open(kind, clock);
    await record(journal, 'one');
    clock.advance(60_000);

    clock.setWall(stepMs);

    clock.advance(JOURNAL_TTL_MS - 60_001);
    expect(journal.digestOf('one')).toBe(DIGEST);
    clock.advance(1);
    expect(journal.digestOf('one')).toBeUndefined();
    await journal.close();
  });

  it('lets the oldest go when there are more than 256', async () => {
    const journal = await open(kind, manualClock());
    const ids = Array.from({ length: JOURNAL_MAX_ENTRIES + 3 }, (_, at) => `op-${at}`);

    await Promise.all(ids.map((id) => record(journal, id)));

    expect(await missing(journal, ids)).toEqual(['op-0', 'op-1', 'op-2']);
    expect(journal.status().entries).toBe(JOURNAL_MAX_ENTRIES);
    await journal.close();
  });

  it('replaces the outcome of an id that is used again after its time', async () => {
    const clock = manualClock();
    const journal = await open(kind, clock);
    await record(journal, 'one', '{"run":1}');
    clock.advance(JOURNAL_TTL_MS);

    await record(journal, 'one', '{"run":2}');

    expect(await journal.read('one')).toBe('{"run":2}');
    await journal.close();
  });

  it('may be closed twice', async () => {
    const journal = await open(kind, manualClock());

    await journal.close();

    await expect(journal.close()).resolves.toBeUndefined();
  });
});

describe('record() in memory', () => {
  it('is done before it returns', async () => {
    const journal = await open('memory', manualClock());
    let isDone = false;

    journal.record(
      { operationId: 'one', requestDigest: DIGEST, outcomeJson: '{}' },
      (durable) => (isDone = durable),
    );

    expect(isDone).toBe(true);
  });
});

describe('record() on disk', () => {
  it('shows an outcome for replay only when it is on disk', async () => {
    const journal = await openIn(temporaryDirectory());

    const done = record(journal, 'one');

    expect(journal.digestOf('one')).toBeUndefined();
    await done;
    expect(journal.digestOf('one')).toBe(DIGEST);
    await journal.close();
  });
});

describe('a restart', () => {
  it('finds what a clean stop folded, in one file', async () => {
    const directory = temporaryDirectory();
    const ids = ['one', 'two', 'three'];
    const first = await openIn(directory);
    for (const id of ids) await record(first, id);
    await first.close();

    const second = await openIn(directory);

    expect(filesIn(directory)).toContain('operations.json');
    expect(await missing(second, ids)).toEqual([]);
    await second.close();
    expect(filesIn(directory)).toEqual(['operations.json']);
  });

  it('leaves a folded file that any JSON reader understands', async () => {
    const directory = temporaryDirectory();
    const clock = manualClock();
    const journal = await openIn(directory, { clock });
    await record(journal, 'one', '{"a":"ü"}');
    await record(journal, 'two', '{"b":[]}');
    await journal.close();

    const document = JSON.parse(readFileSync(join(directory, 'operations.json'), 'utf8'));

    const expiresAt = clock.wallMs() + JOURNAL_TTL_MS;
    expect(document.entries).toMatchObject([
      { id: 'one', requestDigest: DIGEST, expiresAt, result: { a: 'ü' } },
      { id: 'two', requestDigest: DIGEST, expiresAt, result: { b: [] } },
    ]);
  });

  it.each([
    ['nothing steps', 0, JOURNAL_TTL_MS - 60_000],
    ['the clock goes back an hour', -HOUR_MS, JOURNAL_TTL_MS],
    ['the clock goes an hour ahead', HOUR_MS, 0],
  ])('gives what is left of the time, never more than five minutes: %s', async (_, stepMs, leftMs) => {
    const directory = temporaryDirectory();
    const clock = manualClock();
    const first = await openIn(directory, { clock });
    await record(first, 'one');
    await first.close();
    clock.advance(60_000);
    clock.setWall(stepMs);

    const second = await openIn(directory, { clock });

    clock.advance(Math.max(0, leftMs - 1));
    expect(second.digestOf('one')).toBe(leftMs > 0 ? DIGEST : undefined);
    clock.advance(1);
    expect(second.digestOf('one')).toBeUndefined();
    await second.close();
  });

  it('does not count a step of the wall clock during the run before it', async () => {
    const directory = temporaryDirectory();
    const clock = manualClock();
    const first = await openIn(directory, { clock });
    await record(first, 'one');
    clock.setWall(HOUR_MS);
    await first.close();

    const second = await openIn(directory, { clock });

    expect(second.digestOf('one')).toBe(DIGEST);
    await second.close();
  });

  it.each([
    ['compact', (entries: unknown) => JSON.stringify({ entries })],
    ['indented', (entries: unknown) => JSON.stringify({ version: 1, entries }, null, 2)],
  ])('reads the file of an older installation: %s', async (_, encode) => {
    const directory = temporaryDirectory();
    const clock = manualClock();
    const expiresAt = clock.wallMs() + 60_000;
    const entry = { requestDigest: DIGEST, result: { exitCode: 3 }, kind: 'process', extra: null };
    const iso = new Date(expiresAt).toISOString();
    const entries = [
      { ...entry, id: 'number', expiresAt },
      { ...entry, id: 'iso', expiresAt: iso },
    ];
    writeFileSync(join(directory, 'operations.json'), encode(entries), { mode: 0o644 });

    const journal = await openIn(directory, { clock });

    expect(await journal.read('number')).toBe('{"exitCode":3}');
    expect(await journal.read('iso')).toBe('{"exitCode":3}');
    expect(journal.status()).toMatchObject({ state: 'ok', warnings: [] });
    expect(statSync(join(directory, 'operations.json')).mode & 0o777).toBe(0o600);
    await journal.close();
  });
});

describe('file modes', () => {
  it('makes a missing directory 0700 and every file 0600', async () => {
    const directory = join(temporaryDirectory(), 'state', 'deeper');
    const journal = await openIn(directory, { foldAtBytes: 10 });
    await record(journal, 'one');

    const modes = filesIn(directory).map((name) => statSync(join(directory, name)).mode & 0o777);

    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    await journal.close();
    expect(statSync(join(directory, 'operations.json')).mode & 0o777).toBe(0o600);
  });

  it('narrows a log that is open to others', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'operations.log'), '', { mode: 0o644 });

    const journal = await openIn(directory);

    expect(statSync(join(directory, 'operations.log')).mode & 0o777).toBe(0o600);
    await journal.close();
  });

  it('works in a directory that is open to others, and warns', async () => {
    const directory = join(temporaryDirectory(), 'wide');
    mkdirSync(directory, { mode: 0o755 });

    const journal = await openIn(directory);

    expect(await record(journal, 'one')).toBe(true);
    expect(journal.status().warnings).toEqual([expect.stringContaining('0755')]);
    await journal.close();
  });
});
