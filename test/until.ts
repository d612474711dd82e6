// How every test waits: for a state, and not for ever.
import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 10_000;
const POLL_MS = 10;

/** Polls until `probe` gives something other than false or undefined; throws after `limitMs`. */
export async function until<T>(
  what: string,
  probe: () => T | false | undefined,
  limitMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${limitMs} ms went by while waiting until ${what}`);
    await delay(POLL_MS);
  }
}
