// What is left of a process group whose leader was already waited for. The leader's number may by then belong to a
// stranger, so nothing is signalled, not even to probe it, before the process table has shown members that are ours. A group
// that still has members keeps its number from being given away (Linux, struct pid), which makes the proof hold.

import { readdirSync, readFileSync } from 'node:fs';
import type { Clock, Timer } from '../support/clock.ts';

/** Reading the whole table blocks, so it may take one part in five of the time at most, however many ask. */
const REST_PER_SCAN = 4;

export interface ProcessEntry {
  pid: number;
  groupId: number;
  sessionId: number;
  /** Ended and waiting for its parent to notice. */
  isDead: boolean;
}

export interface GroupRest {
  isEmpty: boolean;
  /** The signal reached at least one member. */
  wasSignalled: boolean;
}

export interface ProcessGroups {
  /**
   * Looks for living members of the group, once for all who ask in the same turn, and sends them `signal` unless it is
   * null. Answers later, never in the same turn. Only for groups whose leader was waited for.
   */
  signalRest(groupId: number, signal: NodeJS.Signals | null, answer: (rest: GroupRest) => void): void;
}

export interface ProcessGroupsDeps {
  clock: Clock;
  readProcessTable: () => ProcessEntry[];
}

interface Question {
  groupId: number;
  signal: NodeJS.Signals | null;
  answer: (rest: GroupRest) => void;
}

export function createProcessGroups({ clock, readProcessTable }: ProcessGroupsDeps): ProcessGroups {
  let questions: Question[] = [];
  let pending: Timer | NodeJS.Immediate | null = null;
  let nextScanAtMs = Number.NEGATIVE_INFINITY;

  const scan = (): void => {
    const asked = questions;
    questions = [];
    pending = null;
    const startedAtMs = clock.monotonicMs();
    const living = livingGroups(readProcessTable(), new Set(asked.map((question) => question.groupId)));
    for (const { groupId, signal, answer } of asked) {
      const isEmpty = !living.has(groupId);
      answer({ isEmpty, wasSignalled: !isEmpty && signal !== null && signalGroup(groupId, signal) });
    }
    const endedAtMs = clock.monotonicMs();
    nextScanAtMs = endedAtMs + (endedAtMs - startedAtMs) * REST_PER_SCAN;
  };

  return {
    signalRest(groupId, signal, answer) {
      questions.push({ groupId, signal, answer });
      if (pending !== null) return;
      const waitMs = nextScanAtMs - clock.monotonicMs();
      pending = waitMs > 0 ? clock.startTimer(waitMs, scan) : setImmediate(scan);
    },
  };
}

/** Every process of this machine that can be seen; empty where /proc cannot be read: then nothing can be proved. */
export function readProcessTable(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readNames('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = readEntry(pid);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function livingGroups(table: ProcessEntry[], asked: ReadonlySet<number>): Set<number> {
  const living = new Set<number>();
  for (const { groupId, sessionId, isDead } of table) {
    if (!isDead && groupId === sessionId && asked.has(groupId)) living.add(groupId);
  }
  // A process with the number of a leader that was waited for is a stranger, and so is the group it leads.
  for (const { pid } of table) living.delete(pid);
  return living;
}

/** proc_pid_stat(5). The name in parentheses may hold anything, so fields are counted from the last one closed. */
function readEntry(pid: number): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // It ended while the table was being read.
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  // A zombie with other threads is a process whose main thread alone has ended: it lives.
  const isDead = state === 'X' || (state === 'Z' && Number(fields[17]) <= 1);
  return { pid, groupId: Number(fields[2]), sessionId: Number(fields[3]), isDead };
}

function readNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function signalGroup(groupId: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-groupId, signal);
  } catch {
    // The last member ended since it was seen (ESRCH), or none may be signalled by us (EPERM).
    return false;
  }
}
