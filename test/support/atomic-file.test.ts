import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeFileAtomic } from '../../src/support/atomic-file.ts';

function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'atomic-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('writeFileAtomic()', () => {
  it('makes a file of mode 0600 and leaves nothing beside it', async () => {
    const directory = temporaryDirectory();

    await writeFileAtomic(join(directory, 'file'), 'é');

    expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('é');
    expect(statSync(join(directory, 'file')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('replaces a file with the mode that was asked for', async () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, 'old and longer');
    chmodSync(path, 0o666);

    await writeFileAtomic(path, new Uint8Array([1, 2]), { mode: 0o640 });

    expect([...readFileSync(path)]).toEqual([1, 2]);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('leaves what is there and no temporary file when it cannot replace it', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'file', 'inside'), { recursive: true });

    await expect(writeFileAtomic(join(directory, 'file'), 'x')).rejects.toMatchObject({ code: 'EISDIR' });

    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('fails with the code of a directory that is missing', async () => {
    const path = join(temporaryDirectory(), 'missing', 'file');

    await expect(writeFileAtomic(path, 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('lets the last of many writers win, whole', async () => {
    const directory = temporaryDirectory();
    const texts = Array.from({ length: 20 }, (_, n) => String(n).repeat(10_000));

    await Promise.all(texts.map((text) => writeFileAtomic(join(directory, 'file'), text)));

    expect(texts).toContain(readFileSync(join(directory, 'file'), 'utf8'));
    expect(readdirSync(directory)).toEqual(['file']);
  });
});
