import { describe, expect, it } from 'vitest';
import type { Child } from '../../src/process/launcher.ts';
import { createLingeringChildren } from '../../src/process/lingering.ts';
import { isAlive, until } from './process-table.ts';
import { run, shell } from './run.ts';

describe('background processes', () => {
  it('are left alone once their pipes were silent', async () => {
    const evidence = await run(shell('sleep 30 & echo $!')).end;
    const pid = Number(evidence.stdout);
    expect(evidence).toMatchObject({ exitCode: 0, lingering: true, killed: false, timedOut: false });
    expect(evidence.durationMs).toBeGreaterThanOrEqual(490);
    expect(evidence.durationMs).toBeLessThan(1_000);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });

  it('do not hold up the result when they closed their pipes', async () => {
    const evidence = await run(shell('sleep 30 >/dev/null 2>&1 & echo $!')).end;
    expect(evidence).not.toHaveProperty('lingering');
    expect(evidence.durationMs).toBeLessThan(400);
    process.kill(Number(evidence.stdout), 'SIGKILL');
  });

  it('may still write while the pipes are not silent', async () => {
    const evidence = await run(shell('(sleep .2; echo late) & echo early')).end;
    expect(evidence.stdout).toBe('early\nlate\n');
    expect(evidence).not.toHaveProperty('lingering');
  });

  it('settle without a timeout although the time runs out meanwhile', async () => {
    const evidence = await run(shell('sleep 30 & echo $!; exit 3', { timeoutMs: 200 })).end;
    expect(evidence).toMatchObject({ exitCode: 3, timedOut: false, lingering: true, killed: false });
    expect(evidence.durationMs).toBeLessThan(490);
    process.kill(Number(evidence.stdout), 'SIGKILL');
  });

  it('write on without blocking, and nothing of it reaches the settled request', async () => {
    const running = run(shell('(sleep .7; head -c 1000000 /dev/zero; echo $? >&2) & echo $!'));
    const { stdout } = await running.end;
    const told = running.order.length;
    await until(() => !isAlive(Number(stdout)));
    expect(running.order).toHaveLength(told);
  });
});

describe('a settled process', () => {
  it('is not held back any more', async () => {
    const running = run(shell('(sleep .7; head -c 1000000 /dev/zero) & echo $!'));
    const { stdout } = await running.end;
    running.process.pause();
    await until(() => !isAlive(Number(stdout)));
  });
});

describe('createLingeringChildren()', () => {
  it('closes the pipes of the oldest when there are too many, and forgets what ended', () => {
    const closed: number[] = [];
    const end: (() => void)[] = [];
    const child = (pid: number): Child => ({
      pid,
      stdin: null,
      pause() {},
      resume() {},
      signal: () => false,
      signalGroup: () => false,
      closePipes: () => void closed.push(pid),
      discardOutput: (onEnded) => void end.push(onEnded),
    });
    const lingering = createLingeringChildren();
    for (let pid = 0; pid < 256; pid += 1) lingering.add(child(pid));
    end[0]?.();
    lingering.add(child(256));
    expect(closed).toEqual([]);
    lingering.add(child(257));
    expect(closed).toEqual([1]);
  });
});
