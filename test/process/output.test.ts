import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_FRAME_BYTES } from '../../src/protocol/defaults.ts';
import { isAlive, until } from './process-table.ts';
import { type Run, run, shell } from './run.ts';

const MIB = 1024 * 1024;

let marker: string;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'burrow-output-'));
  marker = join(directory, 'marker');
});
afterEach(() => rmSync(directory, { recursive: true }));

async function measure(
  command: string,
  maxOutputBytes: number,
): Promise<Record<string, unknown> & { peakBytes: number }> {
  const fixture = resolve(import.meta.dirname, '../fixtures/run-and-measure.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [fixture, command, String(maxOutputBytes)]);
  return JSON.parse(stdout);
}

function deliveredBytes({ parts }: Run): number {
  return parts.reduce((sum, part) => sum + Buffer.byteLength(part.data), 0);
}

/** Resolves with what was delivered once nothing more has come for a while. */
async function stall(running: Run): Promise<number> {
  for (let quiet = 0, seen = -1; quiet < 10; quiet += 1) {
    await delay(10);
    const now = deliveredBytes(running);
    if (now !== seen) quiet = 0;
    seen = now;
  }
  return deliveredBytes(running);
}

describe('maxOutputBytes', () => {
  it('cuts the output, says so once and sends SIGTERM', async () => {
    const running = run(shell('yes 0123456', { maxOutputBytes: 1_000 }));
    const evidence = await running.end;
    expect(evidence).toMatchObject({
      truncated: true,
      killed: true,
      signal: 'SIGTERM',
      timedOut: false,
      cancelled: false,
    });
    expect(evidence.stdout).toBe('0123456\n'.repeat(125));
    expect(running.parts.filter((part) => part.truncated)).toHaveLength(1);
    expect(running.parts.at(-1)?.truncated).toBe(true);
    expect(evidence.stdoutBytes).toBeGreaterThan(1_000);
  });

  it('counts both streams together', async () => {
    const evidence = await run(shell('echo 12345; sleep .1; echo 67890 >&2; sleep 5', { maxOutputBytes: 8 }))
      .end;
    expect(evidence).toMatchObject({ truncated: true, stdout: '12345\n', stderr: '67', stderrBytes: 6 });
  });

  it('sends no SIGKILL by itself', async () => {
    const evidence = await run(
      shell("trap '' TERM; echo 123456789; sleep 1.3; exit 6", { maxOutputBytes: 4 }),
    ).end;
    expect(evidence).toMatchObject({ truncated: true, killed: true, exitCode: 6, signal: null });
  });

  it('leaves the escalation to a timeout that follows', async () => {
    const stubborn = "trap '' TERM; echo 123456789; while :; do sleep 30; done";
    const evidence = await run(shell(stubborn, { maxOutputBytes: 4, timeoutMs: 200 })).end;
    expect(evidence).toMatchObject({ truncated: true, timedOut: true, signal: 'SIGKILL' });
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('never splits an emoji at a cap of %i', async (maxOutputBytes) => {
    const { stdout, truncated } = await run(shell('printf 😀😀😀', { maxOutputBytes })).end;
    expect(stdout).toBe('😀'.repeat(Math.floor(maxOutputBytes / 4)));
    expect(truncated).toBe(true);
  });
});

describe('memory', () => {
  it('stays flat while a gigabyte is thrown away, and the total is true', async () => {
    const idle = await measure('true', MIB);
    const flood = await measure("trap '' TERM; head -c 1G /dev/zero", MIB);
    expect(flood).toMatchObject({
      truncated: true,
      stdoutBytes: 1024 * MIB,
      keptBytes: MIB,
      deliveredBytes: MIB,
    });
    expect(flood.peakBytes - idle.peakBytes).toBeLessThan(50 * MIB);
  });

  it('is bounded when the cap is not, and the evidence does not claim to be whole', async () => {
    const idle = await measure('true', MIB);
    const flood = await measure('head -c 64M /dev/zero', Number.MAX_SAFE_INTEGER);
    expect(flood).toMatchObject({
      exitCode: 0,
      truncated: true,
      transportTruncated: true,
      stdoutBytes: 64 * MIB,
      keptBytes: MAX_FRAME_BYTES,
      deliveredBytes: 64 * MIB,
    });
    expect(flood.peakBytes - idle.peakBytes).toBeLessThan(60 * MIB);
  });
});

describe('pause()', () => {
  it('blocks the child until resume()', async () => {
    const running = run(shell('head -c 10M /dev/zero', { maxOutputBytes: 20 * MIB }));
    running.process.pause();
    expect(await stall(running)).toBeLessThan(MIB);
    running.process.resume();
    expect(await running.end).toMatchObject({ exitCode: 0, stdoutBytes: 10 * MIB });
    expect(deliveredBytes(running)).toBe(10 * MIB);
  });

  it('holds the rest of an ended child back as long as it lasts', async () => {
    const running = run(shell(`head -c 100000 /dev/zero; echo $$ >${marker}`, { timeoutMs: 60_000 }));
    running.process.pause();
    await until(() => existsSync(marker) && readFileSync(marker, 'utf8') !== '');
    await until(() => !isAlive(Number(readFileSync(marker, 'utf8'))));
    expect(await stall(running)).toBe(0);
    running.process.resume();
    const evidence = await running.end;
    expect(evidence).toMatchObject({ exitCode: 0, stdoutBytes: 100_000 });
    expect(evidence).not.toHaveProperty('lingering');
  });

  it('does not keep the rest of a cancelled child from being read', async () => {
    const running = run(shell(`head -c 100000 /dev/zero; echo x >${marker}; sleep 30`));
    running.process.pause();
    await until(() => existsSync(marker));
    running.process.cancel();
    expect(await running.end).toMatchObject({ cancelled: true, stdoutBytes: 100_000 });
  });

  it('does not keep an ended child from being settled when its time is up', async () => {
    const running = run(shell('head -c 100000 /dev/zero', { timeoutMs: 400 }));
    running.process.pause();
    expect(await running.end).toMatchObject({ exitCode: 0, timedOut: false, stdoutBytes: 100_000 });
  });

  it('bounds what is read after a cancel from a writer that left the group', async () => {
    const running = run(
      shell(`setsid sh -c 'echo $$ >${marker}; exec yes' & sleep 30`, { maxOutputBytes: 1024 * MIB }),
    );
    running.process.pause();
    await until(() => existsSync(marker) && readFileSync(marker, 'utf8') !== '');
    running.process.cancel();
    expect(await running.end).toMatchObject({ cancelled: true, lingering: true });
    expect(deliveredBytes(running)).toBeLessThan(2 * MIB);
    process.kill(Number(readFileSync(marker, 'utf8')), 'SIGKILL');
  });
});
