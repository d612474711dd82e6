// What tests ask of the process table.
import { readProcessTable } from '../../src/process/process-groups.ts';
import { until as waitUntil } from '../until.ts';

export function livingMembers(groupId: number): number[] {
  return readProcessTable()
    .filter((entry) => entry.groupId === groupId && !entry.isDead)
    .map((entry) => entry.pid);
}

export function isAlive(pid: number): boolean {
  return readProcessTable().some((entry) => entry.pid === pid && !entry.isDead);
}

/** Polls until the condition holds. */
export function until(condition: () => boolean): Promise<boolean> {
  return waitUntil(String(condition), condition);
}
