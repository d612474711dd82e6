import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  createProcessGroups,
  type GroupRest,
  type ProcessEntry,
  readProcessTable,
} from '../../src/process/process-groups.ts';
import { systemClock } from '../../src/support/clock.ts';
import { createSteppedClock } from './stepped-clock.ts';

/** Beyond any number the kernel gives away (2^22), so that no signal of a wrong answer can hit anyone. */
const GROUP = 4_200_000;
const MEMBER: ProcessEntry = { pid: GROUP + 7, groupId: GROUP, sessionId: GROUP, isDead: false };

function ask(table: ProcessEntry[], signal: NodeJS.Signals | null = null): Promise<GroupRest> {
  const groups = createProcessGroups({ clock: systemClock, readProcessTable: () => table });
  return new Promise((resolve) => groups.signalRest(GROUP, signal, resolve));
}

describe('createProcessGroups()', () => {
  it.each([
    ['nobody is left', [], true],
    ['a member lives', [MEMBER], false],
    ['the only member is dead', [{ ...MEMBER, isDead: true }], true],
    ['the group is of another session', [{ ...MEMBER, sessionId: 1 }], true],
    ['a stranger has the number of the leader', [MEMBER, { ...MEMBER, pid: GROUP }], true],
    ['others live', [{ ...MEMBER, groupId: GROUP + 1, sessionId: GROUP + 1 }], true],
  ])('tells whether the group is empty when %s', async (_what, table, isEmpty) => {
    expect(await ask(table)).toEqual({ isEmpty, wasSignalled: false });
  });

  it('says so when the last member ended before the signal', async () => {
    expect(await ask([MEMBER], 'SIGTERM')).toEqual({ isEmpty: false, wasSignalled: false });
  });

  it('looks once for all who ask in one turn', async () => {
    let looks = 0;
    const groups = createProcessGroups({
      clock: systemClock,
      readProcessTable: () => {
        looks += 1;
        return [MEMBER];
      },
    });
    const answers = await Promise.all(
      [GROUP, GROUP + 1].map(
        (groupId) => new Promise<GroupRest>((resolve) => groups.signalRest(groupId, null, resolve)),
      ),
    );
    expect(answers.map((answer) => answer.isEmpty)).toEqual([false, true]);
    expect(looks).toBe(1);
  });

  it('rests four times as long as a look took', async () => {
    const clock = createSteppedClock();
    const groups = createProcessGroups({
      clock,
      readProcessTable: () => {
        clock.step(10);
        return [];
      },
    });
    await new Promise((resolve) => groups.signalRest(GROUP, null, resolve));
    const answers: GroupRest[] = [];
    groups.signalRest(GROUP, null, (rest) => answers.push(rest));
    clock.step(39);
    expect(answers).toEqual([]);
    clock.step(1);
    expect(answers).toHaveLength(1);
  });
});

describe('readProcessTable()', () => {
  it('shows a process whose name holds blanks and parentheses', async () => {
    const child = spawn('sh', ['-c', "printf 'a) S 1' >/proc/self/comm; echo up; read line"], {
      detached: true,
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(readProcessTable()).toContainEqual({
      pid: child.pid,
      groupId: child.pid,
      sessionId: child.pid,
      isDead: false,
    });
    child.stdin.end();
    await new Promise((resolve) => child.once('close', resolve));
  });
});
