// Fails the whole run when a test leaves a process or a temporary file behind, or a name in the root directory: paths that
// tests take for missing lie there.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MARK = 'BURROW_TEST_RUN';
const SETTLE_MS = 3_000;

export default function setup(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'burrow-test-'));
  process.env['TMPDIR'] = directory;
  process.env[MARK] = directory;
  const rootBefore = new Set(readdirSync('/'));
  return async () => {
    const deadline = Date.now() + SETTLE_MS;
    let strays = markedProcesses(directory);
    while (strays.length > 0 && Date.now() < deadline) {
      await delay(50);
      strays = markedProcesses(directory);
    }
    const files = readdirSync(directory).filter((name) => name !== 'node-compile-cache');
    rmSync(directory, { recursive: true, force: true });
    const added = readdirSync('/').filter((name) => !rootBefore.has(name));
    if (strays.length > 0) throw new Error(`Processes left behind by the tests:\n${strays.join('\n')}`);
    if (added.length > 0) throw new Error(`Left in the root directory by the tests: ${added.join(', ')}`);
    if (files.length > 0) throw new Error(`Temporary files left behind by the tests: ${files.join(', ')}`);
  };
}

function markedProcesses(directory: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=${directory}\0`)) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      // The runner's own workers carry the mark too; they end with the run.
      if (command === '' || command.includes('vitest') || command.includes('esbuild')) continue;
      found.push(`${pid} ${command}`);
    } catch {
      // The process ended while it was being looked at.
    }
  }
  return found;
}
