// The journal without a disk: outcomes live as long as the process. Holds at most `maxEntries` outcomes, each bounded by
// the frame limit (256 × 2 MiB by default). Long ones are bytes outside the heap, freed when they leave: as strings they
// would grow old in the heap and then die there, and collecting them would cost more than the operations they came from.
import type { Clock } from '../../support/clock.ts';
import { releaseBytes } from '../../support/release-bytes.ts';
import type { Journal } from './contract.ts';
import { type HeldOutcome, OutcomeIndex } from './outcome-index.ts';

/** Shorter outcomes stay strings: a buffer of its own costs more than they do. */
const MIN_BYTES_CHARACTERS = 4 * 1024;

interface MemoryOutcome extends HeldOutcome {
  readonly json: string | Buffer;
}

export function createMemoryJournal(
  options: { ttlMs: number; maxEntries: number },
  deps: { clock: Clock },
): Journal {
  const index = new OutcomeIndex<MemoryOutcome>(deps.clock, {
    maxEntries: options.maxEntries,
    onLeave: ({ json }) => typeof json === 'string' || releaseBytes(json),
  });
  return {
    digestOf: (operationId) => index.get(operationId)?.requestDigest,
    read: async (operationId) => index.get(operationId)?.json.toString(),
    record({ operationId, requestDigest, outcomeJson }, done) {
      const expiresAtMonotonicMs = deps.clock.monotonicMs() + options.ttlMs;
      index.add({ id: operationId, requestDigest, expiresAtMonotonicMs, json: toHeld(outcomeJson) });
      done(true);
    },
    status: () => ({ mode: 'memory', entries: index.size, state: 'ok', warnings: [] }),
    close: async () => {},
  };
}

function toHeld(text: string): string | Buffer {
  if (text.length < MIN_BYTES_CHARACTERS) return text;
  // Memory of its own can be freed alone.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
