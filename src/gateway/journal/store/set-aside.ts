// A damaged file is kept for a person to look at, under a name with the time, and never more than a few of them.
import { basename, dirname, join } from 'node:path';
import { ignoreFailure, type JournalFs } from '../journal-fs.ts';

const MAX_DAMAGED_FILES = 5;
const MARK = '.damaged-';

/**
 * Moves the file away and gives its new path. With `keepName` it also stays where it is, for a rename that replaces it in
 * one step: at no moment is there neither the damaged file nor its successor under the name.
 */
export async function setAside(
  files: JournalFs,
  path: string,
  options: { wallMs: number; keepName?: boolean },
): Promise<string> {
  const time = new Date(options.wallMs).toISOString().replaceAll(/[:.]/g, '-');
  const target = `${path}${MARK}${time}`;
  if (options.keepName === true) await linkOrRename(files, path, target);
  else await files.rename(path, target);
  await ignoreFailure(removeOldest(files, path));
  return target;
}

/** Some file systems and the kernel's protected_hardlinks refuse a second name; then there is a moment without one. */
async function linkOrRename(files: JournalFs, path: string, target: string): Promise<void> {
  try {
    await files.link(path, target);
  } catch {
    await files.rename(path, target);
  }
}

async function removeOldest(files: JournalFs, path: string): Promise<void> {
  const prefix = `${basename(path)}${MARK}`;
  const names = (await files.list(dirname(path))).filter((name) => name.startsWith(prefix)).sort();
  for (const name of names.slice(0, -MAX_DAMAGED_FILES)) {
    // A directory that stood in the file's place is not ours to empty; it stays.
    await ignoreFailure(files.unlink(join(dirname(path), name)));
  }
}
