import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type Journal, openJournal } from '../../../src/gateway/journal/journal.ts';
import { type JournalFs, systemJournalFs } from '../../../src/gateway/journal/journal-fs.ts';
import { silentLog } from '../../../src/support/log.ts';
import {
  type Call,
  filesIn,
  interceptedFs,
  manualClock,
  missing,
  openIn,
  record,
  systemError,
  temporaryDirectory,
} from './journal-kit.ts';

const clock = manualClock();

/** With every line of its log at level warning. */
async function openTold(path: string, files: JournalFs): Promise<{ journal: Journal; lines: string[] }> {
  const lines: string[] = [];
  const log = { ...silentLog, warn: (line: string) => void lines.push(line) };
  const journal = await openJournal({ location: { kind: 'directory', path } }, { clock, log, files });
  return { journal, lines };
}

function refusing(code: string, calls: Call[]): JournalFs {
  return interceptedFs((call) => {
    if (calls.includes(call)) throw systemError(code);
  });
}

describe('a directory that can never work', () => {
  it.each<[string, string, (path: string) => void, string]>([
    ['a regular file', 'state', (path) => writeFileSync(path, ''), 'ENOTDIR'],
    ['below a regular file', 'state/below', (path) => writeFileSync(path, ''), 'ENOTDIR'],
    ['a link to nowhere', 'state', (path) => symlinkSync('nowhere', path), 'ENOTDIR'],
    ['below a link in a circle', 'state/below', (path) => symlinkSync(path, path), 'ELOOP'],
    ['a name of 300 characters', 'x'.repeat(300), () => {}, 'ENAMETOOLONG'],
  ])('is refused: %s', async (_, name, put, code) => {
    const parent = temporaryDirectory();
    const path = join(parent, name);
    put(join(parent, 'state'));
    const before = filesIn(parent);

    await expect(openIn(path)).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringMatching(`^Cannot use state directory "${path}": [^\\n]+\\(${code}\\)$`),
    });
    await expect(
      openIn('', { location: { kind: 'file', path: join(path, 'own.json') } }),
    ).rejects.toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining(`"${path}`) });
    expect(filesIn(parent)).toEqual(before);
  });

  it.each<[string, Call]>([
    ['EACCES', 'makeDirectory'],
    ['EPERM', 'makeDirectory'],
    ['EACCES', 'directoryMode'],
  ])('is refused when there is %s from %s', async (code, call) => {
    await expect(openIn(temporaryDirectory(), { files: refusing(code, [call]) })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(code),
    });
  });

  it('is refused for an explicit file where the path to it does not let through', async () => {
    const location = { kind: 'file', path: join(temporaryDirectory(), 'own.json') } as const;

    await expect(openIn('', { location, files: refusing('EACCES', ['kindOf']) })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('EACCES'),
    });
  });
});

describe('a directory that may work later', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE'])(
    'leaves a journal in memory that says so in one line when there is %s, and moves to disk by itself',
    async (code) => {
      const path = temporaryDirectory();
      let isBroken = true;
      const files = interceptedFs(() => {
        if (isBroken) throw systemError(code);
      });
      const { journal, lines } = await openTold(path, files);
      expect(await record(journal, 'held')).toBe(false);

      expect(lines).toEqual([journal.status().problem]);
      expect(lines[0]).toContain(`(${code})`);
      expect(lines[0]).toMatch(/memory only, and not all that it holds can be read$/);
      expect(journal.status()).toMatchObject({ mode: 'memory', state: 'degraded', warnings: [] });

      isBroken = false;
      clock.advance(5_000);
      await vi.waitFor(() => expect(journal.status()).toMatchObject({ mode: 'disk', state: 'ok' }));
      await journal.close();
      const next = await openIn(path, { clock });
      expect(await missing(next, ['held'])).toEqual([]);
      await next.close();
    },
  );

  it('says nothing of files to read where there are none', async () => {
    const files = interceptedFs((call, [, flags]) => {
      if (call === 'open' && flags !== 0o4000) throw systemError('EACCES');
    });
    const { journal, lines } = await openTold(temporaryDirectory(), files);

    expect(lines).toEqual([expect.stringMatching(/\(EACCES\); they are held in memory only$/)]);
    await journal.close();
  });

  it.each([
    ['dear diary\n', 'is not a journal; left as it is, nothing in it is used'],
    [undefined, 'is cut off; left as it is, good records in it are used'],
  ])('says what becomes of a damaged file that may not be changed: %j', async (content, told) => {
    const path = temporaryDirectory();
    const file = join(path, 'operations.json');
    const first = await openIn(path, { clock });
    await record(first, 'kept');
    await first.close();
    writeFileSync(file, content ?? readFileSync(file, 'utf8').replace(/\]\}\n$/, ''));
    const files: JournalFs = {
      ...systemJournalFs,
      link: () => Promise.reject(systemError('EROFS')),
    };
    const { journal, lines } = await openTold(path, files);

    expect(lines[0]).toBe(`Journal file "${file}" ${told}`);
    expect(await missing(journal, ['kept'])).toEqual(content === undefined ? [] : ['kept']);
    await journal.close();
  });

  it('is degraded, and not ended, when it becomes hopeless while it runs', async () => {
    const path = join(temporaryDirectory(), 'state');
    mkdirSync(path, { mode: 0o700 });
    let isGone = false;
    const files = interceptedFs((call) => {
      if (isGone && call === 'makeDirectory') throw systemError('EACCES');
    });
    const { journal } = await openTold(path, files);
    rmSync(path, { recursive: true });
    isGone = true;

    expect(await record(journal, 'held')).toBe(false);

    expect(journal.status().problem).toMatch(/: permission is denied; [^:]+\(EACCES\); they are held/);
    await journal.close();
  });
});
