import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Daemon, memoryMiB, startDaemon, temporaryDirectory, until } from './daemon.ts';

const MIB = 1024 * 1024;

function expectWholeLines(daemon: Daemon): void {
  expect(daemon.envelopes.filter(({ type }) => type === 'BROKEN')).toEqual([]);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('frames of the daemon', () => {
  it.each([
    ['emoji', `yes 😀 | tr -d '\\n' | head -c 6M`, '😀'],
    ['NUL bytes', 'head -c 3M /dev/zero', '\0'],
    ['quotes', `yes '"' | tr -d '\\n' | head -c 3M`, '"'],
  ])('hold %s cut on a character, with a part of both streams', async (_, command, character) => {
    const daemon = startDaemon();
    const { result } = await daemon.exec({
      command: `${command}; { ${command}; } | head -c 1M >&2`,
      maxOutputBytes: 32 * MIB,
    });
    const { outcome } = result;

    expectWholeLines(daemon);
    expect(outcome).toMatchObject({ truncated: true, transportTruncated: true, exitCode: 0 });
    for (const text of [outcome.stdout, outcome.stderr]) {
      expect(text.length).toBeGreaterThan(10_000);
      expect(text.replaceAll(character, '')).toBe('');
    }
    expect(outcome).toMatchObject({
      stdoutDigest: sha256(outcome.stdout),
      stderrDigest: sha256(outcome.stderr),
    });
    const terminal = daemon.envelopes.find(({ type }) => type === 'process.terminal');
    expect(terminal?.['evidence']).toEqual(outcome);
  });

  it('keep a short message of one stream beside a flood of the other', async () => {
    const { result } = await startDaemon().exec({
      command: 'head -c 4M /dev/zero; echo why >&2',
      maxOutputBytes: 8 * MIB,
    });

    expect(result.outcome.stderr).toBe('why\n');
  });

  it.each([
    ['stdout alone', 'head -c 1900000 /dev/zero | tr "\\0" x', 1_900_000, false],
    ['just too much', 'head -c 2097152 /dev/zero | tr "\\0" x', undefined, true],
  ])('are filled to the brim by %s', async (_, command, length, isShortened) => {
    const daemon = startDaemon();
    const { result } = await daemon.exec({ command, maxOutputBytes: 8 * MIB });

    expectWholeLines(daemon);
    if (length !== undefined) expect(result.outcome.stdout).toHaveLength(length);
    else expect(result.outcome.stdout.length).toBeGreaterThan(2 * MIB - 2_048);
    expect(result.outcome.transportTruncated === true).toBe(isShortened);
  });

  it('that cannot hold the arguments are an error, also of the replay', async () => {
    const args = ['\x01', '\x02', '\x03'].map((character) => character.repeat(116_490));
    const params = { operationId: 'wide', executable: 'true', args };
    const expected = { type: 'response', ok: false, error: { code: 'output_frame_too_large' } };
    const daemon = startDaemon();

    expect(await daemon.exec(params)).toMatchObject(expected);
    expect(await daemon.exec(params)).toMatchObject(expected);
    expect(daemon.envelopes.map(({ type }) => type)).toEqual(['accepted', 'response', 'response']);
    expect((await daemon.ask('health')).result).toMatchObject({ status: 'ok', activeOperations: [] });
  });
});

describe('answers that nobody reads', () => {
  it('do not fill the memory, however many replays are asked for, and all come when they are read', async () => {
    const daemon = startDaemon({ args: ['--state-dir', temporaryDirectory()] });
    const params = { operationId: 'big', command: 'head -c 1900000 /dev/zero', maxOutputBytes: 2 * MIB };
    await daemon.exec(params);
    daemon.child.stdout?.pause();
    const count = 150;
    for (let id = 0; id < count; id += 1) daemon.send({ id, method: 'process.exec', params });
    daemon.send({ id: 'last', method: 'cancel', params: { operationId: 'x' } });
    await until('answers are stuck', () => (daemon.child.stdout?.readableLength ?? 0) > 0);
    daemon.child.stdout?.resume();
    for (let id = 0; id < count; id += 1) expect((await daemon.answer(id)).result.replay).toBe(true);
    await daemon.answer('last');

    expect(memoryMiB(daemon.pid, 'VmHWM')).toBeLessThan(160);
  });
});
