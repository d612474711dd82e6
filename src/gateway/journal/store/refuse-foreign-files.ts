// An explicit journal file is named by a person, who may mistype, and lies among files of others. Promises that a journal begins
// there only when whatever stands under its names is recognisably ours: empty, nothing but zero bytes (as a crash leaves it), or
// beginning as ours begins, however damaged behind that. Looks before anything is made, changed or removed; opens regular files only.
import { constants } from 'node:fs';
import { ConfigurationError } from '../../../support/configuration-error.ts';
import { errnoOf, ignoreFailure, type JournalFs } from '../journal-fs.ts';
import type { JournalPaths } from './journal-paths.ts';
import { PASSING_FAILURES } from './load-journal.ts';
import { RECORD_START } from './record-line.ts';

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const HEAD_BYTES = 4_096;
const CHUNK_BYTES = 1024 * 1024;
/** No journal comes near it; a longer run of zero bytes is a disk image or a swap file. */
const MAX_ZERO_BYTES = 1024 * 1024 * 1024;

/** Without white space: as this version writes it, as older installations did, and with zero bytes where the entries were. */
const FOLDED_STARTS = [
  '{"entries":[]',
  `{"entries":[${RECORD_START}`,
  '{"entries":[{"id":',
  '{"entries":[\0',
] as const;
const LOG_STARTS = [RECORD_START] as const;
export const LOCK_START = '{"pid":';
const LOCK_STARTS = [LOCK_START] as const;

/** Throws ConfigurationError for the first name under which something foreign stands, and what the file system throws. */
export async function refuseForeignFiles(paths: JournalPaths, files: JournalFs): Promise<void> {
  if (/(^|\/)\.{0,2}$/.test(paths.name)) {
    throw new ConfigurationError(`Journal file "${paths.name}" is the name of a directory: name a file`);
  }
  const reason = await foreignBecause(paths.folded, FOLDED_STARTS, files);
  if (reason !== undefined) {
    throw new ConfigurationError(
      `Journal file "${paths.name}" ${reason}: name a file that burrow wrote, or one that does not exist yet`,
    );
  }
  const beside = [
    { path: paths.temporary, starts: FOLDED_STARTS },
    { path: paths.log, starts: LOG_STARTS },
    { path: paths.oldLog, starts: LOG_STARTS },
    { path: paths.lock, starts: LOCK_STARTS },
  ];
  for (const { path, starts } of beside) {
    const otherReason = await foreignBecause(path, starts, files);
    if (otherReason === undefined) continue;
    throw new ConfigurationError(
      `Journal file "${paths.name}" needs the name "${path}" for itself, but that ${otherReason}: name another journal file, or move that away`,
    );
  }
}

/** Whether a regular file stands there whose first bytes are `start`. Throws what the file system throws. */
export async function beginsWith(path: string, start: string, files: JournalFs): Promise<boolean> {
  if ((await files.kindOf(path)) !== 'file') return false;
  const fd = await files.open(path, READ_FLAGS, 0o600);
  try {
    const head = Buffer.alloc(start.length);
    await files.read(fd, head, 0);
    return head.toString('latin1') === start;
  } finally {
    await ignoreFailure(files.close(fd));
  }
}

/** What stands there, in words; undefined when it is ours or nothing. */
async function foreignBecause(
  path: string,
  starts: readonly string[],
  files: JournalFs,
): Promise<string | undefined> {
  const kind = await kindOf(path, files);
  if (kind === 'missing') return undefined;
  if (kind !== 'file') return `is a ${kind}`;
  try {
    const fd = await files.open(path, READ_FLAGS, 0o600);
    const isOwn = await isOurs(fd, starts, files).finally(() => ignoreFailure(files.close(fd)));
    return isOwn ? undefined : 'holds something else than a journal';
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT') return undefined;
    if (code === undefined || PASSING_FAILURES.has(code)) throw error;
    return `cannot be read (${code})`;
  }
}

/** What the path leads through may refuse (EACCES, ENOTDIR): that is thrown, as it would be by the first use. */
async function kindOf(path: string, files: JournalFs): Promise<string> {
  try {
    return await files.kindOf(path);
  } catch (error) {
    if (errnoOf(error) === 'ELOOP') return 'link in a circle';
    if (errnoOf(error) === 'ENAMETOOLONG') return 'longer name than the file system takes';
    throw error;
  }
}

async function isOurs(fd: number, starts: readonly string[], files: JournalFs): Promise<boolean> {
  const { sizeBytes } = await files.facts(fd);
  if (sizeBytes === 0) return true;
  const buffer = Buffer.allocUnsafe(HEAD_BYTES);
  const head = buffer.subarray(0, await files.read(fd, buffer, 0));
  if (isZero(head)) return sizeBytes <= MAX_ZERO_BYTES && (await isAllZero(fd, files));
  const text = head.toString('latin1').replaceAll(/[ \t\r\n]|\0+$/g, '');
  // A file that is shorter than the start was cut off in it.
  return text !== '' && starts.some((start) => text.startsWith(start) || start.startsWith(text));
}

async function isAllZero(fd: number, files: JournalFs): Promise<boolean> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const count = await files.read(fd, chunk, position);
    if (count === 0) return true;
    if (!isZero(chunk.subarray(0, count))) return false;
    position += count;
  }
}

/** Each byte equals the first, which is zero: two comparisons of native code. */
function isZero(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1)));
}
