// The log of the journal as an open file: begun or gone on with at the end of its last whole line, and written so that a write
// that fails leaves nothing there that a later record could glue to.
import { constants } from 'node:fs';
import { releaseBytes } from '../../../support/release-bytes.ts';
import { ignoreFailure, type JournalFs, writeFully } from '../journal-fs.ts';
import { Segment } from '../segment.ts';

/** O_DSYNC: the write returns when the data is on disk. One thread-pool trip per group instead of write and fdatasync. */
const LOG_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC | constants.O_NONBLOCK;
const NEWLINE = Buffer.from('\n');

/** The log, made when it is missing, mode 0600, its name safe on disk. What lies behind `endBytes` is cut off. */
export async function openLogFile(path: string, endBytes: number, files: JournalFs): Promise<Segment> {
  const fd = await files.open(path, LOG_FLAGS, 0o600);
  const log = new Segment(files, fd, endBytes);
  try {
    const facts = await files.facts(fd);
    log.sizeBytes = Math.min(endBytes, facts.sizeBytes);
    if (facts.mode !== 0o600) await files.chmod(fd, 0o600);
    if (facts.sizeBytes > log.sizeBytes) await log.cutTornTail();
    await files.syncDirectoryOf(path);
  } catch (error) {
    await ignoreFailure(log.retire());
    throw error;
  }
  return log;
}

/** Writes behind the end of the log, which stays where it is: the caller moves it. On return all lines are on disk. */
export async function writeLines(log: Segment, lines: readonly Buffer[], files: JournalFs): Promise<void> {
  const bytes = Buffer.concat(lines.flatMap((line) => [line, NEWLINE]));
  for (const line of lines) releaseBytes(line);
  try {
    await writeFully(files, log.fd, bytes, log.sizeBytes);
    releaseBytes(bytes);
  } catch (error) {
    log.hasTornTail = true;
    await ignoreFailure(log.cutTornTail());
    throw error;
  }
}
