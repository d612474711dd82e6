// One writer per file at a time within this daemon, so that the second of two edits sees what the first one left.
// Other processes are not held back: the rename keeps a file whole against them.

export interface FileLocks {
  /** Runs `work` once all earlier work on the path has ended. */
  exclusive<Result>(path: string, work: () => Promise<Result>): Promise<Result>;
}

/** The table holds one entry per path being worked on, and none when nothing runs. */
export function createFileLocks(): FileLocks {
  const last = new Map<string, Promise<unknown>>();

  return {
    async exclusive(path, work) {
      const before = last.get(path);
      const mine = (before ?? Promise.resolve()).then(work);
      // Who waits behind this work starts whether it succeeded or not.
      const settled = mine.catch(() => undefined);
      last.set(path, settled);
      try {
        return await mine;
      } finally {
        if (last.get(path) === settled) last.delete(path);
      }
    },
  };
}
