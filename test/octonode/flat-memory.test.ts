// A worker serves call after call with the same memory and the same listeners. CALLS=100000 is the figure in docs/nodes.md.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createNodeWorker, type NodeWorker } from '../../src/octonode/octonode.ts';
import { activeResources, descriptorCount, hosted, NODES, options } from './nodes.ts';

const CALLS = Number(process.env.CALLS ?? 20_000);
const MAX_GROWTH_BYTES = 8 * 1024 * 1024;

async function call(worker: NodeWorker, count: number): Promise<void> {
  for (let done = 0; done < count; done += 200) {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => worker.invoke({ index }, { timeoutMs: 20_000 })),
    );
    expect(answers.every(({ status }) => status === 'ok')).toBe(true);
  }
}

/** The heap after collecting what is garbage; the smallest of a few looks. */
async function settledHeapBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 3; look += 1) {
    globalThis.gc?.();
    // What finalizers free is freed between two turns.
    await setImmediate();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

describe('createNodeWorker()', () => {
  it(`stays flat over ${CALLS} calls`, { timeout: 120_000 }, async () => {
    const { setFlagsFromString } = await import('node:v8');
    const { runInNewContext } = await import('node:vm');
    setFlagsFromString('--expose-gc');
    globalThis.gc ??= runInNewContext('gc');
    const worker = createNodeWorker(hosted(`${NODES}echo.ts`), options());
    await call(worker, CALLS / 10);
    const before = {
      bytes: await settledHeapBytes(),
      descriptors: descriptorCount(),
      resources: activeResources(),
    };

    await call(worker, CALLS);

    expect((await settledHeapBytes()) - before.bytes).toBeLessThan(MAX_GROWTH_BYTES);
    expect(descriptorCount()).toBeLessThanOrEqual(before.descriptors);
    expect(activeResources()).toBeLessThanOrEqual(before.resources);
    expect(worker.status()).toMatchObject({ starts: 1, inFlight: 0, queued: 0, lateAnswers: 0 });
    await worker.close();
  });
});
