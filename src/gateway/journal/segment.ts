// One open file that holds record lines: the folded file, the log, or the log before it. Lines are read by offset through
// the descriptor, so a reader keeps its file while a fold replaces or removes the name.
import type { JournalFs } from './journal-fs.ts';

/** Where a line lies; the newline is not part of it. */
export interface Location {
  segment: Segment;
  offsetBytes: number;
  lengthBytes: number;
}

export class Segment {
  readonly fd: number;
  /** End of the last good line; appends go here. */
  sizeBytes: number;
  /** Bytes of an unfinished line may lie behind `sizeBytes`: cut them off before the next append. */
  hasTornTail = false;
  readonly #files: JournalFs;
  #readers = 0;
  #retired = false;

  constructor(files: JournalFs, fd: number, sizeBytes: number) {
    this.#files = files;
    this.fd = fd;
    this.sizeBytes = sizeBytes;
  }

  /** The bytes asked for; undefined when the file has become shorter. Throws what the file system throws. */
  async read(offsetBytes: number, lengthBytes: number): Promise<Buffer | undefined> {
    this.#readers += 1;
    try {
      // Memory of its own, so that the reader can free it.
      const buffer = Buffer.allocUnsafeSlow(lengthBytes);
      let filled = 0;
      while (filled < lengthBytes) {
        const count = await this.#files.read(this.fd, buffer.subarray(filled), offsetBytes + filled);
        if (count === 0) return undefined;
        filled += count;
      }
      return buffer;
    } finally {
      this.#readers -= 1;
      if (this.#retired && this.#readers === 0) await this.#files.close(this.fd);
    }
  }

  /** Takes away what a write that failed, or a crash, left behind the last good line. */
  async cutTornTail(): Promise<void> {
    await this.#files.truncate(this.fd, this.sizeBytes);
    this.hasTornTail = false;
  }

  /** Closes the file once its last reader is done. May be called again. */
  async retire(): Promise<void> {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#readers === 0) await this.#files.close(this.fd);
  }
}
