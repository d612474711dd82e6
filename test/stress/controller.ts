// The built controller for the stress runs, and the file from which it knows a whole fleet before the first arrival.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const BINARY = process.env['BURROW_BINARY'] ?? new URL('../../dist/burrow', import.meta.url).pathname;

export interface StressController {
  child: ChildProcess;
  port: number;
  /** SIGKILL; resolves when it is gone. */
  end(): Promise<void>;
}

/** Its state is `directory`/ctl, its socket `directory`/op.sock. */
export async function serveController(
  directory: string,
  port: number,
  more: readonly string[] = [],
): Promise<StressController> {
  const child = spawn(
    BINARY,
    [
      ...['controller', 'serve', '--listen', `127.0.0.1:${port}`, '--state-dir', join(directory, 'ctl')],
      ...['--socket', join(directory, 'op.sock'), '--json', '--log-level', 'error', ...more],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    child,
    port: JSON.parse(line.toString()).port,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** All share one secret. */
export function enrollFleet(directory: string, ids: readonly string[], secret: string): void {
  const enrolledAt = '2030-01-01T00:00:00Z';
  const gateways = ids.map((gatewayId) => ({ kind: 'enrollment', gatewayId, secret, enrolledAt }));
  mkdirSync(join(directory, 'ctl'), { mode: 0o700 });
  writeFileSync(
    join(directory, 'ctl', 'controller-gateways.json'),
    JSON.stringify({ version: 1, gateways }),
    {
      mode: 0o600,
    },
  );
}

/** The most that fall into any window of that length; `timesMs` in any order. */
export function busiestWindow(timesMs: readonly number[], windowMs: number): number {
  const sorted = timesMs.toSorted((a, b) => a - b);
  let first = 0;
  return sorted.reduce((most, timeMs, last) => {
    while (timeMs - (sorted[first] ?? timeMs) >= windowMs) first += 1;
    return Math.max(most, last - first + 1);
  }, 0);
}
