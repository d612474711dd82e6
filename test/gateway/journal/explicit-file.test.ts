import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
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
  record,
  systemError,
  temporaryDirectory,
} from './journal-kit.ts';

const NAME = 'own.json';
const SIBLINGS = ['own.json.log', 'own.json.log.old', 'own.json.lock', 'own.json.tmp'];
const clock = manualClock();

function openFile(path: string, files?: JournalFs): Promise<Journal> {
  return openIn('', { location: { kind: 'file', path }, clock, ...(files === undefined ? {} : { files }) });
}

/** Every name below with what it is, what it holds and when it was last changed. */
function stateOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const { mode, mtimeMs, ino } = lstatSync(path);
      const content = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : '';
      return [
        name,
        mode,
        mtimeMs,
        ino,
        content || (lstatSync(path).isFile() ? readFileSync(path) : ''),
      ].join();
    });
}

async function leaveJournal(directory: string): Promise<string> {
  const path = join(directory, NAME);
  const journal = await openFile(path);
  await record(journal, 'kept');
  await journal.close();
  return path;
}

const foreign: [string, (path: string) => void, RegExp][] = [
  ['a directory', (path) => mkdirSync(join(path, 'x'), { recursive: true }), /is a directory/],
  ['a FIFO', (path) => execFileSync('mkfifo', [path]), /is a FIFO/],
  ['a link to a device', (path) => symlinkSync('/dev/null', path), /is a device/],
  ['a link to a directory', (path) => symlinkSync('.', path), /is a directory/],
  ['a link in a circle', (path) => symlinkSync(path, path), /is a link in a circle/],
  ['a link to nowhere', (path) => symlinkSync('nowhere', path), /is a link to nowhere/],
  ['text', (path) => writeFileSync(path, 'dear diary\n'), /holds something else/],
  ['white space', (path) => writeFileSync(path, '\n'), /holds something else/],
  ['JSON of another kind', (path) => writeFileSync(path, '{"name":"x"}'), /holds something else/],
  ['a list of other entries', (path) => writeFileSync(path, '{"entries":[{"title":1}]}'), /something else/],
  ['zero bytes before text', (path) => writeFileSync(path, `${'\0'.repeat(9_000)}x`), /something else/],
  ['a character of two bytes', (path) => writeFileSync(path, '{\0"\0a\0"\0'), /something else/],
];

describe('an explicit journal file', () => {
  it.each(foreign)('is refused and nothing is touched when it is %s', async (_, put, reason) => {
    const directory = temporaryDirectory();
    const path = join(directory, NAME);
    put(path);
    const before = stateOf(directory);

    await expect(openFile(path)).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringMatching(reason),
    });
    await expect(openFile(path)).rejects.toThrow(`Journal file "${path}"`);
    expect(stateOf(directory)).toEqual(before);
  });

  it.each(SIBLINGS.flatMap((sibling) => foreign.map(([kind, put]) => [sibling, kind, put] as const)))(
    'is refused and nothing is touched when %s is %s',
    async (sibling, _, put) => {
      const directory = temporaryDirectory();
      const path = await leaveJournal(directory);
      put(join(directory, sibling));
      const before = stateOf(directory);

      await expect(openFile(path)).rejects.toThrow(`"${join(directory, sibling)}"`);
      expect(stateOf(directory)).toEqual(before);
    },
  );

  it.each(['', '/', '/.', '/..', '/sub/'])(
    'is refused when its name is that of a directory: D%s',
    async (end) => {
      const directory = temporaryDirectory();

      await expect(openFile(`${directory}${end}`)).rejects.toThrow(/directory/);
      expect(filesIn(directory)).toEqual([]);
    },
  );

  it('is refused when it may not be read', async () => {
    const path = await leaveJournal(temporaryDirectory());
    const files = interceptedFs((call, [opened]) => {
      if (call === 'open' && opened === path) throw systemError('EACCES');
    });

    await expect(openFile(path, files)).rejects.toThrow(/EACCES/);
    expect(filesIn(join(path, '..'))).toEqual([NAME]);
  });

  it.each<[string, (path: string) => void]>([
    ['all zero bytes', (path) => writeFileSync(path, Buffer.alloc(3 * 1024 * 1024))],
    ['cut in its first bytes', (path) => writeFileSync(path, '{"ent')],
    ['cut in the first bytes, zero behind', (path) => writeFileSync(path, '{"entries":[\n\0\0\0\0')],
    ['an older layout, cut', (path) => writeFileSync(path, '{\n  "entries": [\n    {\n      "id": "o')],
    ['damaged behind its beginning', (path) => appendFileSync(path, 'rubbish\n')],
  ])('is set aside when it begins as ours but is damaged: %s', async (_, damage) => {
    const directory = temporaryDirectory();
    const path = await leaveJournal(directory);
    damage(path);

    const journal = await openFile(path);

    expect(journal.status()).toMatchObject({ state: 'ok', warnings: [expect.stringContaining(path)] });
    await record(journal, 'after');
    await journal.close();
    expect(filesIn(directory)).toEqual([NAME, expect.stringMatching(/^own\.json\.damaged-/)]);
    const next = await openFile(path);
    expect(await missing(next, ['after'])).toEqual([]);
    await next.close();
  });

  it('is an empty journal when it is an empty file', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, NAME);
    writeFileSync(path, '');

    const journal = await openFile(path);

    expect(journal.status()).toMatchObject({ state: 'ok', mode: 'disk', warnings: [] });
    await record(journal, 'kept');
    await journal.close();
    expect(filesIn(directory)).toEqual([NAME]);
    const next = await openFile(path);
    expect(await missing(next, ['kept'])).toEqual([]);
    await next.close();
  });

  it('goes on after a crash, with whatever that left', async () => {
    const directory = temporaryDirectory();
    const crashed = temporaryDirectory();
    const journal = await openFile(join(directory, NAME));
    await record(journal, 'kept');
    for (const name of filesIn(directory)) copyFileSync(join(directory, name), join(crashed, name));
    await journal.close();
    const lock = readFileSync(join(crashed, 'own.json.lock'), 'utf8');
    writeFileSync(join(crashed, 'own.json.lock'), lock.replace(/"pid":\d+/, '"pid":0'));
    copyFileSync(join(crashed, 'own.json.log'), join(crashed, 'own.json.log.old'));
    writeFileSync(join(crashed, 'own.json.tmp'), '{"entries":[\n{"crc3');

    const next = await openFile(join(crashed, NAME));

    expect(next.status()).toMatchObject({ state: 'ok', mode: 'disk', warnings: [] });
    expect(await missing(next, ['kept'])).toEqual([]);
    await next.close();
    expect(filesIn(crashed)).toEqual([NAME]);
  });

  it('leaves files of others beside it alone', async () => {
    const directory = temporaryDirectory();
    const others = ['own.json.lock.mine.tmp', 'own.tmp', 'own.lock', 'own.log', 'own.json.log.older'];
    for (const name of others) writeFileSync(join(directory, name), name);

    await leaveJournal(directory);

    expect(filesIn(directory)).toEqual([NAME, ...others].sort());
  });

  it('is degraded, and what took its name is untouched, when that happens while it runs', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, NAME);
    const journal = await openFile(path);
    await record(journal, 'one');
    execFileSync('rm', [`${path}.log`]);
    mkdirSync(path);

    expect(await record(journal, 'two')).toBe(false);
    expect(journal.status().problem).toContain('is a directory');
    await journal.close();
    expect(filesIn(directory)).toContain(NAME);
    expect(lstatSync(path).isDirectory()).toBe(true);
  });
});
