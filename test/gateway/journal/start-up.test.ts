import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  brokenLogLines,
  DIGEST,
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

const IDS = ['one', 'two', 'three'];
const clock = manualClock();
let goodFolded: string;
let goodLog: string;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'journal-'));
  const journal = await openIn(directory, { clock });
  for (const id of IDS) await record(journal, id);
  goodLog = readFileSync(join(directory, 'operations.log'), 'utf8');
  await journal.close();
  goodFolded = readFileSync(join(directory, 'operations.json'), 'utf8');
  rmSync(directory, { recursive: true });
});

/** A start on what `damage` left, then a record, then a clean stop and a second start. */
async function survive(damage: (folded: string, log: string) => void) {
  const directory = temporaryDirectory();
  damage(join(directory, 'operations.json'), join(directory, 'operations.log'));
  const first = await openIn(directory, { clock });
  const { warnings, state } = first.status();
  const lost = await missing(first, IDS);
  const isDurable = await record(first, 'after');
  expect(brokenLogLines(directory)).toEqual([]);
  await first.close();
  const second = await openIn(directory, { clock });
  const stillThere = IDS.filter((id) => !lost.includes(id));
  expect(await missing(second, [...stillThere, 'after'])).toEqual([]);
  expect(second.status()).toMatchObject({ state: 'ok', warnings: [] });
  await second.close();
  const setAside = filesIn(directory).filter((name) => name.includes('.damaged-'));
  expect(filesIn(directory)).toEqual(['operations.json', ...setAside]);
  expect({ state, isDurable }).toEqual({ state: 'ok', isDurable: true });
  return { warnings, lost, setAside };
}

function flip(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'X' ? 'Y' : 'X'}${text.slice(at + 1)}`;
}

const secondLine = (text: string): number => text.indexOf('"id":"two"') + 30;

describe('start-up with a damaged operations.json', () => {
  it.each<[string, (path: string) => void, string[]]>([
    ['0 bytes', (path) => writeFileSync(path, ''), IDS],
    ['all zero bytes', (path) => writeFileSync(path, Buffer.alloc(4_096)), IDS],
    ['garbage', (path) => writeFileSync(path, Buffer.from('\xff\xfe\n\n{"entries"\n\x00', 'latin1')), IDS],
    [
      'an older layout cut in the middle',
      (path) => writeFileSync(path, '{"entries":[{"id":"one","requ'),
      IDS,
    ],
    ['JSON of another kind', (path) => writeFileSync(path, '{"version":2}'), IDS],
    ['a JSON scalar', (path) => writeFileSync(path, 'null'), IDS],
    ['entries that are none', (path) => writeFileSync(path, '{"entries":[1,null,{"id":"one"}]}'), IDS],
    ['a directory in its place', (path) => mkdirSync(join(path, 'x'), { recursive: true }), IDS],
    ['a FIFO in its place', (path) => execFileSync('mkfifo', [path]), IDS],
    ['a link in a circle', (path) => symlinkSync(path, path), IDS],
    ['cut in the last line', (path) => writeFileSync(path, goodFolded.slice(0, -60)), ['three']],
    ['cut before its end', (path) => writeFileSync(path, goodFolded.slice(0, -3)), []],
    [
      'a changed byte in the middle',
      (path) => writeFileSync(path, flip(goodFolded, secondLine(goodFolded))),
      ['two'],
    ],
    [
      'zero bytes in the middle',
      (path) => writeFileSync(path, goodFolded.replace(/"id":"two".{40}/, '\0'.repeat(50))),
      ['two'],
    ],
  ])('sets aside %s, warns and keeps the good records', async (_, damage, expectedLost) => {
    const { warnings, lost, setAside } = await survive((folded) => damage(folded));

    expect(lost).toEqual(expectedLost);
    expect(setAside).toEqual([expect.stringMatching(/^operations\.json\.damaged-2026-01-01T/)]);
    expect(warnings).toEqual([expect.stringContaining('operations.json')]);
  });

  it('sets aside a file that may not be read', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'operations.json'), goodFolded);
    chmodSync(join(directory, 'operations.json'), 0);
    const files = interceptedFs((call, [path]) => {
      if (call === 'open' && path === join(directory, 'operations.json')) throw systemError('EACCES');
    });

    const journal = await openIn(directory, { clock, files });

    expect(journal.status()).toMatchObject({ state: 'ok', warnings: [expect.stringContaining('EACCES')] });
    await journal.close();
  });

  it('keeps at most five damaged files, the newest', async () => {
    const directory = temporaryDirectory();
    const ownClock = manualClock();
    for (let round = 0; round < 8; round += 1) {
      writeFileSync(join(directory, 'operations.json'), `damage ${round}`);
      const journal = await openIn(directory, { clock: ownClock });
      await journal.close();
      ownClock.advance(1_000);
    }

    const contents = filesIn(directory).map((name) => readFileSync(join(directory, name), 'utf8'));

    expect(contents).toEqual(['damage 3', 'damage 4', 'damage 5', 'damage 6', 'damage 7']);
  });
});

describe('start-up with a damaged log', () => {
  it.each<[string, (log: string) => string | Buffer, string[]]>([
    ['cut in the last line', (log) => log.slice(0, -40), ['three']],
    ['cut just before its newline', (log) => log.slice(0, -1), ['three']],
    ['cut in the first bytes of the last line', (log) => `${log}{"cr`, []],
  ])(
    'drops a torn last line, and the next append does not glue to it: %s',
    async (_, damage, expectedLost) => {
      const { warnings, lost, setAside } = await survive((_folded, log) =>
        writeFileSync(log, damage(goodLog)),
      );

      expect({ warnings, lost, setAside }).toEqual({ warnings: [], lost: expectedLost, setAside: [] });
    },
  );

  it.each<[string, (log: string) => string, string[]]>([
    ['a changed byte in the middle', (log) => flip(log, secondLine(log)), ['two']],
    ['zero bytes behind the last line', (log) => `${log}${'\0'.repeat(4_096)}`, []],
    ['nothing but zero bytes', () => '\0'.repeat(4_096), IDS],
    ['a torn record with a whole one glued to it', (log) => log.replace('\n', '\n{"crc32":"0000'), []],
    ['a foreign line', (log) => `hello\n${log}`, []],
  ])('sets the file aside and keeps the records before and after: %s', async (_, damage, expectedLost) => {
    const { warnings, lost, setAside } = await survive((_folded, log) => writeFileSync(log, damage(goodLog)));

    expect(lost).toEqual(expectedLost);
    expect(setAside).toEqual([expect.stringMatching(/^operations\.log\.damaged-/)]);
    expect(warnings).toEqual([expect.stringContaining('operations.log')]);
  });

  it('skips a line of 20 MiB', async () => {
    const { lost } = await survive((_folded, log) => {
      writeFileSync(log, 'x'.repeat(20 * 1024 * 1024));
      appendFileSync(log, `\n${goodLog}`);
    });

    expect(lost).toEqual([]);
  });
});

describe('start-up after a crash in a fold', () => {
  it.each<[string, (folded: string, log: string) => void]>([
    ['before the new file had its name', (_, log) => writeFileSync(`${log}.old`, goodLog)],
    [
      'before the old log was removed',
      (folded, log) => {
        writeFileSync(folded, goodFolded);
        writeFileSync(`${log}.old`, goodLog);
        writeFileSync(log, goodLog);
      },
    ],
    [
      'with half a temporary file',
      (folded, log) => {
        writeFileSync(log, goodLog);
        writeFileSync(`${folded}.tmp`, goodFolded.slice(0, 50));
      },
    ],
  ])('has every outcome once and leaves one file: %s', async (_, leave) => {
    const { warnings, lost } = await survive(leave);

    expect({ warnings, lost }).toEqual({ warnings: [], lost: [] });
  });

  it('takes the later record of an id', async () => {
    const directory = temporaryDirectory();
    const crashed = temporaryDirectory();
    const journal = await openIn(directory, { clock });
    await record(journal, 'one', '{"run":1}');
    const older = readFileSync(join(directory, 'operations.log'), 'utf8');
    await record(journal, 'one', '{"run":2}');
    const newer = readFileSync(join(directory, 'operations.log'), 'utf8').slice(older.length);
    await journal.close();
    writeFileSync(join(crashed, 'operations.log.old'), older);
    writeFileSync(join(crashed, 'operations.log'), newer);

    const next = await openIn(crashed, { clock });

    expect(await next.read('one')).toBe('{"run":2}');
    expect(next.status().entries).toBe(1);
    await next.close();
  });
});

describe('read()', () => {
  it('gives nothing rather than damaged bytes, and warns', async () => {
    const directory = temporaryDirectory();
    const journal = await openIn(directory);
    await record(journal, 'one', outcomeOf('one', 900));
    const log = readFileSync(join(directory, 'operations.log'), 'latin1');
    writeFileSync(join(directory, 'operations.log'), flip(log, 500), { encoding: 'latin1', flag: 'r+' });

    expect(journal.digestOf('one')).toBe(DIGEST);
    expect(await journal.read('one')).toBeUndefined();
    expect(journal.digestOf('one')).toBeUndefined();
    expect(journal.status().warnings).toHaveLength(1);
    await journal.close();
    expect(existsSync(join(directory, 'operations.json'))).toBe(true);
  });
});
