import { constants } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interceptedFs, openIn, outcomeOf, record, temporaryDirectory } from './journal-kit.ts';

/** What a power cut needs, and no kill can show: the order of writes, flushes and names. */
function tracingFs() {
  const trace: string[] = [];
  const openFlags = new Map<string, number>();
  const files = interceptedFs((call, args) => {
    const names = args.filter((arg) => typeof arg === 'string').map((path) => basename(path));
    if (call === 'open') openFlags.set(names[0] ?? '', Number(args[1]));
    if (!['read', 'close', 'facts', 'readText', 'list', 'directoryMode'].includes(call)) {
      trace.push([call, ...names].join(' '));
    }
  });
  return { files, trace, openFlags };
}

describe('power cuts', () => {
  it('finds an acknowledged outcome flushed by its own write', async () => {
    const { files, openFlags } = tracingFs();
    const journal = await openIn(temporaryDirectory(), { files });

    await record(journal, 'one');

    expect((openFlags.get('operations.log') ?? 0) & constants.O_DSYNC).toBe(constants.O_DSYNC);
    await journal.close();
  });

  it('finds the name of a new log flushed before anything in it is acknowledged', async () => {
    const { files, trace } = tracingFs();
    const journal = await openIn(temporaryDirectory(), { files });

    await record(journal, 'one');

    expect(trace.slice(-3)).toEqual(['open operations.log', 'syncDirectoryOf operations.log', 'write']);
    await journal.close();
  });

  it('finds the folded file flushed before it has its name, and its name before the log goes', async () => {
    const { files, trace } = tracingFs();
    const journal = await openIn(temporaryDirectory(), { files });
    await record(journal, 'one', outcomeOf('one'));
    trace.length = 0;

    await journal.close();

    expect(trace).toEqual([
      'unlink operations.json.tmp',
      'open operations.json.tmp',
      'chmod',
      'write',
      'sync',
      'rename operations.json.tmp operations.json',
      'syncDirectoryOf operations.json',
      'unlink operations.log.old',
      'unlink operations.log',
      'unlink operations.lock',
    ]);
  });
});
