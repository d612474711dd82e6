import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  filesIn,
  interceptedFs,
  missing,
  openIn,
  outcomeOf,
  record,
  temporaryDirectory,
} from './journal-kit.ts';

function countingFs() {
  const counts: { [call: string]: number; write: number } = { write: 0 };
  const files = interceptedFs((call) => {
    counts[call] = (counts[call] ?? 0) + 1;
  });
  return { files, counts };
}

describe('the cost of one record', () => {
  it.each([[0], [256]])('is one write when the journal holds %d outcomes', async (heldCount) => {
    const { files, counts } = countingFs();
    const journal = await openIn(temporaryDirectory(), { files });
    const held = Array.from({ length: heldCount }, (_, at) => `held-${at}`);
    await Promise.all(held.map((id) => record(journal, id, outcomeOf(id, 20_000))));
    const before = { ...counts };

    await record(journal, 'one');

    expect(counts).toEqual({ ...before, write: before.write + 1 });
    await journal.close();
  });

  it('is shared by all that are ready together', async () => {
    const { files, counts } = countingFs();
    const journal = await openIn(temporaryDirectory(), { files });
    const before = counts.write;

    await Promise.all(Array.from({ length: 1_000 }, (_, at) => record(journal, `op-${at}`)));

    expect(counts.write - before).toBe(1);
    await journal.close();
  });
});

describe('2,000 records one by one', () => {
  it('leave files within their bounds, and one file after a clean stop', async () => {
    const directory = temporaryDirectory();
    const foldAtBytes = 100_000;
    const journal = await openIn(directory, { foldAtBytes, maxEntries: 20 });
    let largestBytes = 0;

    for (let n = 0; n < 2_000; n += 1) {
      await record(journal, `op-${n}`, outcomeOf(`op-${n}`, 900));
      const sizes = filesIn(directory).map(
        (name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0,
      );
      largestBytes = Math.max(
        largestBytes,
        sizes.reduce((sum, size) => sum + size, 0),
      );
    }

    // The log, the log being folded, the folded file and its successor.
    expect(largestBytes).toBeLessThan(2 * foldAtBytes + 100_000);
    expect(await missing(journal, ['op-1980', 'op-1999'])).toEqual([]);
    await journal.close();
    expect(filesIn(directory)).toEqual(['operations.json']);
    expect(statSync(join(directory, 'operations.json')).size).toBeLessThan(40_000);
  });

  it('replays the same outcome while folds go on around it', async () => {
    const journal = await openIn(temporaryDirectory(), { foldAtBytes: 500 });
    await record(journal, 'kept', outcomeOf('kept', 3_000));

    for (let n = 0; n < 200; n += 1) {
      const [text] = await Promise.all([journal.read('kept'), record(journal, `op-${n}`)]);
      expect(text).toBe(outcomeOf('kept', 3_000));
    }

    expect(journal.status()).toMatchObject({ state: 'ok', warnings: [] });
    await journal.close();
  });
});
