// What tests ask of the process table.
import { setTimeout as delay } from 'node:timers/promises';
import { readProcessTable } from '../../src/process/process-groups.ts';

export function livingMembers(groupId: number): number[] {
  return readProcessTable()
    .filter((entry) => entry.groupId === groupId && !entry.isDead)
    .map((entry) => entry.pid);
}

export function isAlive(pid: number): boolean {
  return readProcessTable().some((entry) => entry.pid === pid && !entry.isDead);
}

/** Polls until the condition holds; fails after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Condition did not come true: ${condition}`);
    await delay(10);
  }
}
