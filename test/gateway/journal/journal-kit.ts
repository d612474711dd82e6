// What the journal's tests share: a clock moved by hand, a file system that fails or stops on request, short calls.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Journal, type JournalOptions, openJournal } from '../../../src/gateway/journal/journal.ts';
import { type JournalFs, systemJournalFs } from '../../../src/gateway/journal/journal-fs.ts';
import { type Clock, systemClock } from '../../../src/support/clock.ts';
import { silentLog } from '../../../src/support/log.ts';

export const DIGEST = 'd'.repeat(64);

export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function openIn(
  path: string,
  options: Partial<JournalOptions> & { clock?: Clock; files?: JournalFs } = {},
): Promise<Journal> {
  const { clock = systemClock, files = systemJournalFs, ...rest } = options;
  return openJournal({ location: { kind: 'directory', path }, ...rest }, { clock, log: silentLog, files });
}

/** Resolves with what `done` was told. */
export function record(
  journal: Journal,
  operationId: string,
  outcomeJson = outcomeOf(operationId),
): Promise<boolean> {
  return new Promise((resolve) =>
    journal.record({ operationId, requestDigest: DIGEST, outcomeJson }, resolve),
  );
}

export function outcomeOf(id: string, sizeBytes = 100): string {
  return JSON.stringify({ type: 'process.result', id, stdout: 'é\n'.repeat(sizeBytes / 3) });
}

/** Ids among `ids` whose outcome cannot be read back as it was recorded. */
export async function missing(journal: Journal, ids: string[]): Promise<string[]> {
  const texts = await Promise.all(ids.map((id) => journal.read(id)));
  return ids.filter((id, at) => texts[at] === undefined || JSON.parse(texts[at]).id !== id);
}

export function filesIn(path: string): string[] {
  return readdirSync(path).sort();
}

/** Lines of the log that are not JSON; a torn tail that something was glued to is one. */
export function brokenLogLines(path: string): string[] {
  const lines = readFileSync(join(path, 'operations.log'), 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  return lines.filter((line) => !isJson(line));
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

export interface ManualClock extends Clock {
  /** Time passes: both clocks move and timers that are due fire. */
  advance(ms: number): void;
  /** The host's time is set; nothing passes. */
  setWall(byMs: number): void;
}

export function manualClock(): ManualClock {
  let wallMs = Date.UTC(2026, 0, 1);
  let monotonicMs = 1_000;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  return {
    wallMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    startTimer(delayMs, callback) {
      const timer = { atMs: monotonicMs + delayMs, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    advance(ms) {
      wallMs += ms;
      monotonicMs += ms;
      for (const timer of [...timers]) {
        if (timer.atMs <= monotonicMs && timers.delete(timer)) timer.callback();
      }
    },
    setWall(byMs) {
      wallMs += byMs;
    },
  };
}

export type Call = keyof JournalFs;

/** The real file system with something in front of each call. */
export function interceptedFs(before: (call: Call, args: unknown[]) => Promise<void> | void): JournalFs {
  return new Proxy(systemJournalFs, {
    get(target, call: Call) {
      if (call === 'linkCount') return target.linkCount;
      return async (...args: unknown[]) => {
        await before(call, args);
        // The arguments are those of this very call.
        return (target[call] as (...args: unknown[]) => unknown)(...args);
      };
    },
  });
}

export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
