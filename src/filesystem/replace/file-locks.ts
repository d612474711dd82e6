// One writer per file at a time within this daemon, so that the second of two edits sees what the first one left.
// Other processes are not held back: the rename keeps a file whole against them.

import { untilAborted } from '../until-aborted.ts';

export interface FileLocks {
  /**
   * Runs `work` once all earlier work on the path has ended. Rejects with the signal's reason when it is aborted before that;
   * `work` then never runs.
   */
  exclusive<Result>(path: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

/** The table holds one entry per path being worked on, and none when nothing runs. */
export function createFileLocks(): FileLocks {
  const last = new Map<string, Promise<unknown>>();

  return {
    async exclusive(path, signal, work) {
      const turn = (last.get(path) ?? Promise.resolve()).then(() => signal.throwIfAborted());
      const mine = turn.then(work);
      // Who waits behind this work starts whether it succeeded or not, and not before all ahead of it has ended.
      const settled: Promise<unknown> = mine
        .catch(() => undefined)
        .finally(() => {
          if (last.get(path) === settled) last.delete(path);
        });
      last.set(path, settled);
      await untilAborted(turn, signal);
      return mine;
    },
  };
}
