// The cost of an operation with a full journal against one with an empty journal, state on disk.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchDaemon, runTrue, startDaemon } from './daemon.ts';
import { type Bench, compare } from './figure.ts';

const ROUNDS = 9;
const OPERATIONS = 100;
const FULL_ENTRIES = 256;
const OUTCOME_BYTES = 64 * 1024;

export const gatewayJournal: Bench = {
  name: 'journal',
  async run() {
    const directory = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
    try {
      const full = await startDaemon(['--state-dir', join(directory, 'full')]);
      await fill(full);
      let next = 0;
      let emptyRound = 0;
      const time = async (daemon: BenchDaemon, count: number): Promise<number> => {
        const start = performance.now();
        for (let index = 0; index < count; index += 1) await runTrue(daemon.client, `op-${next++}`);
        return performance.now() - start;
      };
      const onFull = async (): Promise<number> => {
        const elapsedMs = await time(full, OPERATIONS);
        // What was just timed pushed large outcomes out: put them back.
        await fill(full);
        return elapsedMs;
      };
      const onEmpty = async (): Promise<number> => {
        const daemon = await startDaemon(['--state-dir', join(directory, `empty-${emptyRound++}`)]);
        // A daemon that has just started is slower for reasons that have nothing to do with its journal.
        await time(daemon, OPERATIONS / 2);
        const elapsedMs = await time(daemon, OPERATIONS);
        await daemon.stop();
        return elapsedMs;
      };
      const result = await compare(ROUNDS, onFull, onEmpty);
      await full.stop();
      return [
        {
          name: `operation with ${FULL_ENTRIES} outcomes of 64 KiB in the journal, of one with few`,
          value: result.ratio,
          unit: '×',
          limit: { kind: 'max', value: 1.3 },
          detail: `${(result.a / OPERATIONS).toFixed(2)} ms against ${(result.b / OPERATIONS).toFixed(2)} ms`,
        },
      ];
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

let filled = 0;

async function fill(daemon: BenchDaemon): Promise<void> {
  const command = `head -c ${OUTCOME_BYTES} /dev/zero | tr '\\0' x`;
  for (let entry = 0; entry < FULL_ENTRIES; entry += 16) {
    await Promise.all(
      Array.from({ length: 16 }, () =>
        daemon.client.execute('process.exec', { operationId: `fill-${filled++}`, command }),
      ),
    );
  }
}
