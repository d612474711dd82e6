// Replaces a small file so that every reader, and a machine that loses power, sees the old content or the new one and
// never a part. Not for large files: the data is in memory anyway.
import { randomUUID } from 'node:crypto';
import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes `data` as the file `path`, with exactly `mode` (default 0600) whatever the umask; a file that exists is replaced,
 * not written into. On return it survives a power cut. On failure the old file is untouched, no temporary file is left, and
 * the system error is thrown as it is. The directory must exist.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: { mode?: number } = {},
): Promise<void> {
  const temporaryPath = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFlushed(temporaryPath, data, options.mode ?? 0o600);
    await rename(temporaryPath, path);
  } catch (error) {
    await unlink(temporaryPath).catch(() => {}); // It may never have been made; the first error is the one to tell.
    throw error;
  }
  await flushDirectory(dirname(path));
}

async function writeFlushed(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.chmod(mode);
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
}
