// The journal without a disk: outcomes live as long as the process. Holds at most `maxEntries` outcomes, each bounded by
// the frame limit (256 × 2 MiB by default), as the text the gateway made, without a copy.
import type { Clock } from '../../support/clock.ts';
import type { Journal } from './contract.ts';
import { EntryIndex } from './entry-index.ts';

export function createMemoryJournal(
  options: { ttlMs: number; maxEntries: number },
  deps: { clock: Clock },
): Journal {
  const index = new EntryIndex(deps.clock, options.maxEntries);
  return {
    digestOf: (operationId) => index.get(operationId)?.requestDigest,
    read: async (operationId) => index.get(operationId)?.text,
    record({ operationId, requestDigest, outcomeJson }, done) {
      const expiresAtMonotonicMs = deps.clock.monotonicMs() + options.ttlMs;
      index.add({
        id: operationId,
        requestDigest,
        expiresAtMonotonicMs,
        text: outcomeJson,
        location: undefined,
      });
      done(true);
    },
    status: () => ({ mode: 'memory', entries: index.size, state: 'ok', warnings: [] }),
    close: async () => {},
  };
}
