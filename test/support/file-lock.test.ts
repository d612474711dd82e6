import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileLock, type LockFiles, systemLockFiles } from '../../src/support/file-lock.ts';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'file-lock-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** As a service with ProcSubset=pid sees /proc. */
const WITHOUT_BOOT_ID: LockFiles = {
  ...systemLockFiles,
  readText: (path) =>
    systemLockFiles.readText(path.startsWith('/proc/sys/') ? `${path}-that-is-hidden` : path),
};

describe('FileLock', () => {
  it.each([
    ['both see the boot', systemLockFiles, systemLockFiles],
    ['neither sees the boot', WITHOUT_BOOT_ID, WITHOUT_BOOT_ID],
    ['only the holder sees the boot', systemLockFiles, WITHOUT_BOOT_ID],
    ['only the other sees the boot', WITHOUT_BOOT_ID, systemLockFiles],
  ])('has one owner at a time when %s', async (_, first, second) => {
    const path = join(directory(), 'lock');
    const [holder, other] = [new FileLock(path, first), new FileLock(path, second)];

    expect(await holder.take()).toEqual({ status: 'taken' });
    expect(await other.take()).toEqual({ status: 'held', pid: process.pid });
    await other.release();
    expect(await holder.take()).toEqual({ status: 'taken' });
    await holder.release();
    expect(await other.take()).toEqual({ status: 'taken' });
  });

  it('leaves no file behind', async () => {
    const path = directory();
    const lock = new FileLock(join(path, 'lock'));

    await lock.take();
    expect(readdirSync(path)).toEqual(['lock']);
    await lock.release();
    expect(readdirSync(path)).toEqual([]);
  });
});
