import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileWrites, replaceFile, writeFully } from '../../../src/filesystem/replace/replace.ts';
import { temporaryDirectory } from '../call-tool.ts';

async function setUp(mode = 0o666) {
  const directory = temporaryDirectory();
  const path = join(directory, 'file');
  writeFileSync(path, 'old', { mode });
  const replacement = { path, before: await stat(path), signal: new AbortController().signal };
  return {
    directory,
    path,
    replacement,
    files: createFileWrites({ recordsDirectory: temporaryDirectory() }),
  };
}

function fillWith(text: string): (handle: FileHandle) => Promise<void> {
  return (handle) => writeFully(handle, Buffer.from(text));
}

describe('replaceFile()', () => {
  it('keeps the new content to its writer alone until it is complete', async () => {
    const { path, replacement, files } = await setUp();
    let modeWhileFilling = 0;

    await replaceFile(files, {
      ...replacement,
      async fill(handle) {
        modeWhileFilling = (await handle.stat()).mode & 0o7777;
        await writeFully(handle, Buffer.from('new'));
      },
    });

    expect(modeWhileFilling).toBe(0o600);
    expect(statSync(path).mode & 0o7777).toBe(0o666 & ~process.umask());
  });

  it.each(['fill', 'confirm'] as const)(
    'leaves the old file whole and nothing else when %s fails',
    async (step) => {
      const { directory, path, replacement, files } = await setUp();
      const failure = new Error('no further');
      const fail = async (): Promise<void> => {
        throw failure;
      };

      await expect(replaceFile(files, { ...replacement, fill: fillWith('new'), [step]: fail })).rejects.toBe(
        failure,
      );

      expect(readFileSync(path, 'utf8')).toBe('old');
      expect(readdirSync(directory)).toEqual(['file']);
    },
  );

  it('leaves the old file whole when it is cancelled on the way', async () => {
    const { directory, path, replacement, files } = await setUp();
    const controller = new AbortController();

    const replacing = replaceFile(files, {
      ...replacement,
      signal: controller.signal,
      async fill(handle) {
        await fillWith('new')(handle);
        controller.abort();
      },
    });

    await expect(replacing).rejects.toMatchObject({ name: 'AbortError' });
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('does not wait for the disk when it is cancelled while the new content is flushed', async () => {
    const { directory, path, replacement, files } = await setUp();
    const controller = new AbortController();
    const flushing = Promise.withResolvers<void>();
    const slowDisk = {
      ...files,
      async create(...place: Parameters<typeof files.create>) {
        const temporary = await files.create(...place);
        temporary.handle.sync = () => {
          controller.abort();
          return flushing.promise;
        };
        return temporary;
      },
    };

    const replacing = replaceFile(slowDisk, {
      ...replacement,
      signal: controller.signal,
      fill: fillWith('new'),
    });

    await expect(replacing).rejects.toMatchObject({ name: 'AbortError' });
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['file']);
    flushing.resolve();
  });

  it('puts the temporary file on record while it is there, and only then', async () => {
    const { directory, replacement } = await setUp();
    const recordsDirectory = temporaryDirectory();
    const files = createFileWrites({ recordsDirectory });
    let during: [string[], string[]] = [[], []];

    await replaceFile(files, {
      ...replacement,
      async fill() {
        during = [readdirSync(directory), readdirSync(recordsDirectory)];
      },
    });

    expect(during[0]).toEqual([expect.stringMatching(/^\.burrow-[0-9a-f]{16}\.tmp$/), 'file']);
    expect(during[1]).toEqual([
      expect.stringMatching(new RegExp(`^burrow-write-${process.pid}-\\d+-[0-9a-f]{16}$`)),
    ]);
    expect(readdirSync(recordsDirectory)).toEqual([]);
  });

  it('writes although nothing can be put on record', async () => {
    const { path, replacement } = await setUp();
    const files = createFileWrites({ recordsDirectory: '/nowhere' });

    await replaceFile(files, { ...replacement, fill: fillWith('new') });

    expect(readFileSync(path, 'utf8')).toBe('new');
  });
});
