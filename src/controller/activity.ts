// The last operations that went through the controller: which, where, when and how they ended. Never a command, an argument,
// a path, a value or any output. Bounded to 256; the oldest is forgotten first.

import type { Clock } from '../support/clock.ts';

const MAX_ENTRIES = 256;

export interface Activity {
  operationId: string;
  target: string;
  kind: 'process.exec' | 'filesystem.execute';
  startedAt: string;
  endedAt: string | null;
  /** `lost`: the line ended first. `refused`: the gateway answered with `code`. */
  status: 'running' | 'completed' | 'refused' | 'lost';
  code: string | null;
  /** Of a process; null for a file tool and while it runs. */
  exitCode: number | null;
  replay: boolean;
  /** The gateway said that the operation is taken. */
  accepted: boolean;
  /** It was sent with protected values (none of which is kept). */
  isProtected: boolean;
}

export type ActivityStart = Pick<Activity, 'operationId' | 'target' | 'kind' | 'isProtected'>;

export interface ActivityList {
  begin(start: ActivityStart): Activity;
  end(
    entry: Activity,
    ended: Partial<Pick<Activity, 'code' | 'exitCode' | 'replay'>> & Pick<Activity, 'status'>,
  ): void;
  /** The youngest entry of an operation. */
  find(target: string, operationId: string): Activity | undefined;
  /** Youngest last. */
  all(target?: string): readonly Activity[];
}

export function createActivityList(clock: Clock): ActivityList {
  const entries: Activity[] = [];
  const now = (): string => new Date(clock.wallMs()).toISOString();
  return {
    begin(start) {
      const entry: Activity = {
        ...start,
        startedAt: now(),
        endedAt: null,
        status: 'running',
        code: null,
        exitCode: null,
        replay: false,
        accepted: false,
      };
      entries.push(entry);
      if (entries.length > MAX_ENTRIES) entries.shift();
      return entry;
    },
    end: (entry, ended) => void Object.assign(entry, { endedAt: now() }, ended),
    find: (target, operationId) =>
      entries.findLast((entry) => entry.operationId === operationId && entry.target === target),
    all: (target) => entries.filter((entry) => target === undefined || entry.target === target),
  };
}
