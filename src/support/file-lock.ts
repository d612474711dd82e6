// One process owns a set of files at a time. The lock is a small file that names its holder: process id, the start time
// the kernel keeps for it, and the boot. A holder that no longer runs does not count, so kill -9 leaves nothing to clean
// up by hand. It cannot see across pid namespaces: two containers must not share one state directory.
import { randomUUID } from 'node:crypto';
import fs, { constants } from 'node:fs';
import { promisify } from 'node:util';

const CREATE_FLAGS = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
/** A dead holder's lock is removed and the lock tried once more; each loss of that race to another starter costs a try. */
const MAX_TRIES = 3;

/** The file calls of a lock. Each fails with a Node.js system error that carries `code`. */
export interface LockFiles {
  open(path: string, flags: number, mode: number): Promise<number>;
  close(fd: number): Promise<void>;
  chmod(fd: number, mode: number): Promise<void>;
  /** Bytes written at `position`; may be fewer than given. */
  write(fd: number, buffer: Buffer, position: number): Promise<number>;
  readText(path: string): Promise<string>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

export const systemLockFiles: LockFiles = {
  open: promisify(fs.open),
  close: promisify(fs.close),
  chmod: promisify(fs.fchmod),
  write: async (fd, buffer, position) =>
    (await promisify(fs.write)(fd, buffer, 0, buffer.length, position)).bytesWritten,
  readText: (path) => fs.promises.readFile(path, 'utf8'),
  link: fs.promises.link,
  rename: fs.promises.rename,
  unlink: fs.promises.unlink,
};

interface Holder {
  pid: number;
  startTime: string;
  bootId: string;
  /** Tells two owners in one process apart. */
  token: string;
}

export type LockResult = { status: 'taken' } | { status: 'held'; pid: number };

export class FileLock {
  readonly #files: LockFiles;
  readonly #path: string;
  readonly #token = randomUUID();

  constructor(path: string, files = systemLockFiles) {
    this.#files = files;
    this.#path = path;
  }

  /** Taken also when this lock has it already. Throws what the file system throws (ENOSPC, EROFS, EACCES). */
  async take(): Promise<LockResult> {
    const own = await this.#describeOwn();
    for (let tries = 1; ; tries += 1) {
      if (await this.#create(own)) return { status: 'taken' };
      const holder = await this.#readHolder();
      if (holder?.token === this.#token) return { status: 'taken' };
      if (holder !== undefined && (await this.#isRunning(holder))) return { status: 'held', pid: holder.pid };
      if (tries === MAX_TRIES) throw new Error(`Cannot take the lock "${this.#path}": others take it first`);
      await this.#removeStale(holder);
    }
  }

  /** The running process that has it, this one too; undefined when none has. Changes nothing. */
  async holder(): Promise<number | undefined> {
    const holder = await this.#readHolder();
    return holder !== undefined && (await this.#isRunning(holder)) ? holder.pid : undefined;
  }

  async release(): Promise<void> {
    if ((await this.#readHolder())?.token === this.#token)
      await ignoreFailure(this.#files.unlink(this.#path));
  }

  /** link() publishes the finished file under its name in one step, so nobody ever reads half a lock. */
  async #create(own: Holder): Promise<boolean> {
    const ownPath = `${this.#path}.${this.#token}.tmp`;
    const fd = await this.#files.open(ownPath, CREATE_FLAGS, 0o600);
    try {
      // Whatever the umask: a lock that cannot be read would count as nobody's.
      await this.#files.chmod(fd, 0o600);
      await this.#write(fd, Buffer.from(`${JSON.stringify(own)}\n`));
      await this.#files.link(ownPath, this.#path);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    } finally {
      await ignoreFailure(this.#files.close(fd));
      await ignoreFailure(this.#files.unlink(ownPath));
    }
  }

  async #write(fd: number, content: Buffer): Promise<void> {
    for (let written = 0; written < content.length; ) {
      written += await this.#files.write(fd, content.subarray(written), written);
    }
  }

  /** Moves the stale lock aside before removing it: if a new holder came in between, its lock goes back unharmed. */
  async #removeStale(seen: Holder | undefined): Promise<void> {
    const asidePath = `${this.#path}.stale-${this.#token}.tmp`;
    await ignoreFailure(this.#files.rename(this.#path, asidePath));
    const moved = await this.#readHolder(asidePath);
    if (moved !== undefined && moved.token !== seen?.token) {
      await ignoreFailure(this.#files.link(asidePath, this.#path));
    }
    await ignoreFailure(this.#files.unlink(asidePath));
  }

  async #readHolder(path = this.#path): Promise<Holder | undefined> {
    try {
      const { pid, startTime, bootId, token } = JSON.parse(await this.#files.readText(path));
      return { pid: Number(pid), startTime: String(startTime), bootId: String(bootId), token: String(token) };
    } catch {
      return undefined; // Gone, or not a lock of ours: nobody to wait for.
    }
  }

  async #describeOwn(): Promise<Holder> {
    return {
      pid: process.pid,
      startTime: (await this.#startTimeOf(process.pid)) ?? '',
      bootId: await this.#bootId(),
      token: this.#token,
    };
  }

  async #isRunning(holder: Holder): Promise<boolean> {
    const bootId = await this.#bootId();
    if (holder.bootId !== '' && bootId !== '' && holder.bootId !== bootId) return false;
    return (await this.#startTimeOf(holder.pid)) === holder.startTime;
  }

  /** Empty where a service sees nothing of /proc but processes (ProcSubset=pid): then pid and start time alone decide. */
  async #bootId(): Promise<string> {
    try {
      return (await this.#files.readText('/proc/sys/kernel/random/boot_id')).trim();
    } catch {
      return '';
    }
  }

  /**
   * Field 22 of /proc/pid/stat (proc(5)); the command name before it may hold blanks and ends with the last ")".
   * undefined for a process that is gone or dead and not yet collected by its parent (state Z or X).
   */
  async #startTimeOf(pid: number): Promise<string | undefined> {
    try {
      const stat = await this.#files.readText(`/proc/${pid}/stat`);
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return /[ZX]/.test(fields[0] ?? '') ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
}

/** What stays behind changes nothing: it is looked at again at the next start. */
async function ignoreFailure(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch {
    // Left behind on purpose; see above.
  }
}
