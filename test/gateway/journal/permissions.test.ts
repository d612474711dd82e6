import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openIn, outcomeOf, record, temporaryDirectory } from './journal-kit.ts';

function modesIn(directory: string): Record<string, string> {
  const names = ['.', ...readdirSync(directory)];
  return Object.fromEntries(
    names.map((name) => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)]),
  );
}

describe('permissions of what the journal makes', () => {
  it.each([0o777, 0o277, 0o022, 0])('are 0700 and 0600 with a umask of %o', async (umask) => {
    const directory = join(temporaryDirectory(), 'above', 'state');
    const former = process.umask(umask);
    onTestFinished(() => void process.umask(former));

    const journal = await openIn(directory, { foldAtBytes: 100 });
    // Of its own size, so that the log is folded while it runs.
    await record(journal, 'one', outcomeOf('one', 900));
    await record(journal, 'two', outcomeOf('two', 900));
    const whileItRuns = modesIn(directory);
    await journal.close();

    expect(whileItRuns).toMatchObject({ '.': '700', 'operations.lock': '600', 'operations.log': '600' });
    expect(new Set(Object.values(whileItRuns))).toEqual(new Set(['700', '600']));
    expect(modesIn(join(directory, '..'))).toEqual({ '.': '700', state: '700' });
    expect(modesIn(directory)).toEqual({ '.': '700', 'operations.json': '600' });
  });
});
