import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../src/gateway/journal/journal.ts';
import type { JournalFs } from '../../../src/gateway/journal/journal-fs.ts';
import {
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

const clock = manualClock();

function openFile(path: string, files?: JournalFs): Promise<Journal> {
  const location = { kind: 'file', path } as const;
  return openIn('', { location, clock, foldAtBytes: 500, ...(files === undefined ? {} : { files }) });
}

/** A link in one directory to a journal in another, as after a clean stop. */
async function leaveLinked(): Promise<{ beside: string; link: string; disk: string; real: string }> {
  const [beside, disk] = [temporaryDirectory(), temporaryDirectory()];
  const [link, real] = [join(beside, 'link.json'), join(disk, 'real.json')];
  const journal = await openFile(real);
  await record(journal, 'first');
  await journal.close();
  symlinkSync(real, link);
  return { beside, link, disk, real };
}

/** What a kill -9 leaves of a journal that holds the outcomes `ids`: its log and its lock, under the names given. */
async function leaveCrashed(ids: string[], log: string, lock: string): Promise<void> {
  const directory = temporaryDirectory();
  const journal = await openIn(directory, { clock });
  for (const id of ids) await record(journal, id);
  copyFileSync(join(directory, 'operations.log'), log);
  const holder = readFileSync(join(directory, 'operations.lock'), 'utf8');
  writeFileSync(lock, holder.replace(/"pid":\d+/, '"pid":4194304'));
  await journal.close();
}

async function expectKept(open: Promise<Journal>, ids: string[]): Promise<void> {
  const journal = await open;
  expect(journal.status()).toMatchObject({ state: 'ok', mode: 'disk', warnings: [] });
  expect(await missing(journal, ids)).toEqual([]);
  await journal.close();
}

describe('an explicit journal file that is a link', () => {
  it('stays a link, through folds and a clean stop, and all lies beside the file it leads to', async () => {
    const { beside, link, disk, real } = await leaveLinked();
    const journal = await openFile(link);
    expect(filesIn(disk)).toEqual(['real.json', 'real.json.lock', 'real.json.log']);
    for (const id of ['a', 'b', 'c']) await record(journal, id, outcomeOf(id, 900));

    expect(filesIn(beside)).toEqual(['link.json']);
    await journal.close();

    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect([filesIn(beside), filesIn(disk)]).toEqual([['link.json'], ['real.json']]);
    await expectKept(openFile(real), ['first', 'a', 'b', 'c']);
  });

  it('has one owner with the file it leads to', async () => {
    const { link, real } = await leaveLinked();
    const first = await openFile(real);
    const second = await openFile(link);

    expect(second.status()).toMatchObject({ mode: 'memory', problem: expect.stringContaining('in use by') });
    await second.close();
    await first.close();
  });

  it('is followed once: pointed elsewhere while the journal runs it changes nothing', async () => {
    const { beside, link, real } = await leaveLinked();
    const journal = await openFile(link);
    symlinkSync(join(temporaryDirectory(), 'elsewhere.json'), join(beside, 'new'));
    renameSync(join(beside, 'new'), link);
    rmSync(`${real}.log`);

    await record(journal, 'after');
    await journal.close();

    await expectKept(openFile(real), ['first', 'after']);
  });

  it('is followed later when the disk refuses that at the start', async () => {
    const { beside, link, real } = await leaveLinked();
    let isBroken = true;
    const files = interceptedFs((call) => {
      if (isBroken && call === 'followLink') throw systemError('EIO');
    });
    const journal = await openFile(link, files);
    expect(journal.status().problem).toContain('EIO');
    isBroken = false;
    clock.advance(1_000);

    expect(await record(journal, 'after')).toBe(true);
    await journal.close();

    expect(filesIn(beside)).toEqual(['link.json']);
    await expectKept(openFile(real), ['first', 'after']);
  });

  it('is refused when it leads where the user may not go', async () => {
    const { link } = await leaveLinked();
    const files = interceptedFs((call) => {
      if (call === 'followLink') throw systemError('EACCES');
    });

    await expect(openFile(link, files)).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(`that journal file "${link}" leads to: permission`),
    });
  });

  it('takes in the logs that an earlier version left beside the link', async () => {
    const { beside, link, disk, real } = await leaveLinked();
    await leaveCrashed(['old'], `${link}.log.old`, `${link}.lock`);
    await leaveCrashed(['log', 'last'], `${link}.log`, `${link}.lock`);

    const journal = await openFile(link);
    expect(filesIn(beside)).toEqual(['link.json']);
    await journal.close();

    expect(filesIn(disk)).toEqual(['real.json']);
    await expectKept(openFile(real), ['first', 'old', 'log', 'last']);
  });

  it('keeps the logs beside the link until they could be folded', async () => {
    const { beside, link, real } = await leaveLinked();
    await leaveCrashed(['log'], `${link}.log`, `${link}.lock`);
    const files = interceptedFs((call, [from]) => {
      if (call === 'rename' && from === `${real}.tmp`) throw systemError('ENOSPC');
    });
    const journal = await openFile(link, files);

    expect(await missing(journal, ['first', 'log'])).toEqual([]);
    await journal.close();
    expect(filesIn(beside)).toEqual(['link.json', 'link.json.log']);
    await expectKept(openFile(link), ['first', 'log']);
    expect(filesIn(beside)).toEqual(['link.json']);
  });

  it('is refused while a daemon of an earlier version runs on it', async () => {
    const { beside, link } = await leaveLinked();
    const other = await openFile(join(beside, 'other.json'));
    copyFileSync(join(beside, 'other.json.lock'), `${link}.lock`);

    await expect(openFile(link)).rejects.toThrow(
      `in use by process ${process.pid}, which names it "${link}"`,
    );
    expect(filesIn(beside)).toContain('link.json.lock');
    await other.close();
  });

  it('leaves files of others alone that have the names beside the link', async () => {
    const { beside, link } = await leaveLinked();
    const others = {
      'link.json.lock': 'version = 4',
      'link.json.log': 'dear diary',
      'link.json.log.old': '',
    };
    for (const [name, content] of Object.entries(others)) writeFileSync(join(beside, name), content);
    mkdirSync(`${link}.tmp`);

    await expectKept(openFile(link), ['first']);

    for (const [name, content] of Object.entries(others))
      expect(readFileSync(join(beside, name), 'utf8')).toBe(content);
    expect(readdirSync(beside)).toHaveLength(5);
  });
});

describe('operations.json of a state directory as an explicit file', () => {
  it.each<[string, (file: string) => string]>([
    ['by its name', (file) => file],
    ['by a longer way', (file) => join(file, '..').concat('/.//operations.json')],
    ['by a link', linkTo],
  ])('is refused while a daemon has the directory: %s', async (_, nameOf) => {
    const directory = temporaryDirectory();
    const first = await openIn(directory, { clock });
    await record(first, 'kept');
    await first.close();
    const owner = await openIn(directory, { clock });
    const file = nameOf(join(directory, 'operations.json'));
    const before = filesIn(directory);

    await expect(openFile(file)).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringMatching(`^Journal file "${file}" .+: use --state-dir "${directory}[/.]*"$`),
    });
    expect(filesIn(directory)).toEqual(before);
    await owner.close();
  });

  it.each(['operations.log', 'operations.log.old'])(
    'is refused after a crash that left %s there',
    async (name) => {
      const directory = temporaryDirectory();
      await leaveCrashed(['kept'], join(directory, name), join(temporaryDirectory(), 'lock'));

      await expect(openFile(join(directory, 'operations.json'))).rejects.toThrow('use --state-dir');
      expect(filesIn(directory)).toEqual([name]);
    },
  );

  it('is taken where nothing shows a state directory', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'operations.log'), 'operations of the day\n');
    const file = join(directory, 'operations.json');
    const journal = await openFile(file);
    await record(journal, 'kept');
    await journal.close();

    await expectKept(openFile(file), ['kept']);
  });
});

describe('a state directory', () => {
  it('is refused while a daemon has its operations.json as an explicit file', async () => {
    const directory = temporaryDirectory();
    const owner = await openFile(join(directory, 'operations.json'));

    await expect(openIn(directory, { clock })).rejects.toThrow(
      `in use by process ${process.pid}, which names it "${join(directory, 'operations.json')}"`,
    );
    await owner.close();
    await expectKept(openIn(directory, { clock }), []);
  });

  it('takes in what a crash left of its operations.json as an explicit file', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'operations.json');
    await leaveCrashed(['kept'], `${file}.log`, `${file}.lock`);

    await expectKept(openIn(directory, { clock }), ['kept']);
    expect(filesIn(directory)).toEqual(['operations.json']);
  });
});

function linkTo(file: string): string {
  const link = join(temporaryDirectory(), 'link.json');
  symlinkSync(file, link);
  return link;
}
