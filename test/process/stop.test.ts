import { describe, expect, it } from 'vitest';
import { createProcessDeps } from '../../src/process/process.ts';
import { isAlive, livingMembers, until } from './process-table.ts';
import { exec, run, shell } from './run.ts';
import { createSteppedClock } from './stepped-clock.ts';

/** A bound for what should take no time at all on a busy machine. */
const PROMPT_MS = 600;
const LAST_MOMENT_MS = 1_100 + PROMPT_MS;

function pidIn(stdout: string): number {
  return Number(stdout.split('\n')[0]);
}

describe('timeout', () => {
  it('ends the whole group and keeps what was written', async () => {
    const evidence = await run(shell('echo $$; echo half >&2; sleep 30 | cat', { timeoutMs: 300 })).end;
    expect(evidence).toMatchObject({
      timedOut: true,
      timeoutReason: 'timeoutMs',
      cancelled: false,
      killed: true,
      exitCode: null,
      signal: 'SIGTERM',
      stderr: 'half\n',
    });
    expect(evidence.durationMs).toBeLessThan(300 + PROMPT_MS);
    expect(livingMembers(pidIn(evidence.stdout))).toEqual([]);
  });

  it('kills what ignores SIGTERM after the grace period', async () => {
    const evidence = await run(shell("trap '' TERM; echo $$; while :; do sleep 30; done", { timeoutMs: 100 }))
      .end;
    expect(evidence).toMatchObject({ timedOut: true, killed: true, signal: 'SIGKILL' });
    expect(evidence.durationMs).toBeGreaterThanOrEqual(1_090);
    expect(evidence.durationMs).toBeLessThan(100 + LAST_MOMENT_MS);
    expect(livingMembers(pidIn(evidence.stdout))).toEqual([]);
  });

  it('reports the exit code of a process that handles SIGTERM', async () => {
    const evidence = await run(shell("trap 'echo bye; exit 9' TERM; sleep 30 & wait", { timeoutMs: 200 }))
      .end;
    expect(evidence).toMatchObject({ timedOut: true, exitCode: 9, signal: null, stdout: 'bye\n' });
  });

  it('kills members that closed their pipes and ignore SIGTERM', async () => {
    const stubborn = "(trap '' TERM; exec >&- 2>&-; while :; do sleep 30; done) & echo $$; wait";
    const evidence = await run(shell(stubborn, { timeoutMs: 200 })).end;
    expect(evidence).toMatchObject({ timedOut: true, killed: true, signal: 'SIGTERM' });
    expect(evidence.durationMs).toBeLessThan(200 + LAST_MOMENT_MS);
    await until(() => livingMembers(pidIn(evidence.stdout)).length === 0);
  });

  it('settles without what left the group and holds the pipes', async () => {
    const evidence = await run(
      shell('setsid sh -c "echo \\$\\$; exec sleep 30" & sleep 30', { timeoutMs: 300 }),
    ).end;
    const escaped = pidIn(evidence.stdout);
    expect(evidence).toMatchObject({ timedOut: true, lingering: true });
    expect(evidence.durationMs).toBeGreaterThanOrEqual(1_390);
    expect(evidence.durationMs).toBeLessThan(300 + LAST_MOMENT_MS);
    expect(isAlive(escaped)).toBe(true);
    process.kill(escaped, 'SIGKILL');
  });

  it('follows the monotonic clock when the wall clock is set', async () => {
    const clock = createSteppedClock();
    const running = run(
      shell('echo up; sleep 30', { timeoutMs: 5_000, deadlineMs: clock.wallMs() + 60_000 }),
      { ...createProcessDeps(clock) },
    );
    await running.saw('up');
    clock.setWall(clock.wallMs() + 3_600_000);
    clock.step(4_999);
    clock.setWall(clock.wallMs() - 7_200_000);
    expect(running.order).toEqual(['started', 'stdout']);
    clock.step(1);
    expect(await running.end).toMatchObject({
      timedOut: true,
      timeoutReason: 'timeoutMs',
      durationMs: 5_000,
      signal: 'SIGTERM',
    });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('deadline', () => {
  it('starts nothing when it is already past', async () => {
    const running = run(exec('/no/such/program', [], { deadlineMs: Date.now() - 1 }));
    const evidence = await running.end;
    expect(running.order).toEqual(['started', 'end']);
    expect(evidence).toMatchObject({
      timedOut: true,
      timeoutReason: 'deadlineMs',
      exitCode: null,
      signal: null,
      killed: false,
    });
  });

  it('stops the process before the timeout would', async () => {
    const evidence = await run(shell('sleep 30', { deadlineMs: Date.now() + 200 })).end;
    expect(evidence).toMatchObject({ timedOut: true, timeoutReason: 'deadlineMs', signal: 'SIGTERM' });
    expect(evidence.durationMs).toBeLessThan(200 + PROMPT_MS);
  });
});

describe('cancel()', () => {
  it('ends the group and is not a timeout', async () => {
    const running = run(shell('echo $$; sleep 30 | cat'));
    await running.saw('\n');
    running.process.cancel();
    running.process.cancel();
    const evidence = await running.end;
    expect(evidence).toMatchObject({
      cancelled: true,
      timedOut: false,
      timeoutReason: null,
      killed: true,
      signal: 'SIGTERM',
    });
    expect(livingMembers(pidIn(evidence.stdout))).toEqual([]);
    running.process.cancel();
    expect(running.order.filter((event) => event === 'end')).toHaveLength(1);
  });

  it('keeps the first reason when a timeout follows', async () => {
    const running = run(shell("trap '' TERM; echo up; while :; do sleep 30; done", { timeoutMs: 400 }));
    await running.saw('up');
    running.process.cancel();
    expect(await running.end).toMatchObject({ cancelled: true, timedOut: false, signal: 'SIGKILL' });
  });

  it('ends a background process after the main one has exited', async () => {
    const running = run(shell('echo $$; sleep 30 & exit 4'));
    await running.saw('\n');
    const { stdout } = { stdout: running.parts[0]?.data ?? '' };
    await until(() => !isAlive(pidIn(stdout)));
    running.process.cancel();
    const evidence = await running.end;
    expect(evidence).toMatchObject({ cancelled: true, exitCode: 4 });
    await until(() => livingMembers(pidIn(stdout)).length === 0);
  });

  it('settles at once when the group is gone', async () => {
    const running = run(shell('exit 5'));
    running.process.cancel();
    const evidence = await running.end;
    expect(evidence.cancelled).toBe(true);
    expect(evidence.durationMs).toBeLessThan(PROMPT_MS);
  });
});
