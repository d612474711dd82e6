import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { GatewayClient } from '../../src/client/client.ts';
import { runOperation } from '../../src/commands/run-operation.ts';
import type { OutputStream, System } from '../../src/commands/system.ts';

/** An operation that does not end by itself, in a world whose time passes on demand. */
function start(stdout: OutputStream, stderr: OutputStream) {
  const signals: Record<string, () => void> = {};
  const timers: (() => void)[] = [];
  const system = {
    stdout,
    stderr,
    abandonStdout: () => {},
    clock: { startTimer: (_delayMs: number, callback: () => void) => timers.push(callback) },
    onSignal(signal: string, handler: () => void) {
      signals[signal] = handler;
      return () => {};
    },
  } as unknown as System;
  // Nothing else of it is used.
  const client = {
    call: () => Promise.resolve(),
    execute: () => new Promise(() => {}),
  } as unknown as GatewayClient;
  const target = { abandon: () => Promise.resolve() };
  const ended = runOperation({
    client,
    method: 'process.exec',
    params: {},
    streams: { stdout, stderr },
    system,
    target,
  });
  return {
    ended,
    interrupt: () => signals['SIGINT']?.(),
    passTime: () => timers.splice(0).map((fire) => fire()),
  };
}

/** It never takes more than the first chunk. */
function unread(): Writable {
  return new Writable({ write() {} });
}

describe('runOperation(), interrupted once', () => {
  it('says that output waits for its reader, and is given up at the next signal', async () => {
    const [stdout, stderr] = [unread(), new PassThrough()];
    const { ended, interrupt, passTime } = start(stdout, stderr);
    stdout.write('output');
    interrupt();
    expect(stderr.read()).toBeNull();
    passTime();
    expect(String(stderr.read())).toMatch(/^burrow: Output waits for its reader: Ctrl-C again .*\n$/);
    interrupt();

    expect(await ended).toEqual({ status: 'abandoned', exitStatus: 130 });
  });

  it('says nothing where all was read', () => {
    const [stdout, stderr] = [new PassThrough().resume(), new PassThrough()];
    const { interrupt, passTime } = start(stdout, stderr);
    stdout.write('output');
    interrupt();

    expect(passTime()).toHaveLength(1);
    expect(stderr.read()).toBeNull();
  });

  it('adds nothing to a stderr that nobody reads', () => {
    const [stdout, stderr] = [unread(), unread()];
    const { interrupt, passTime } = start(stdout, stderr);
    stdout.write('output');
    stderr.write('more');
    const waitingBytes = stderr.writableLength;
    interrupt();
    passTime();

    expect(stderr.writableLength).toBe(waitingBytes);
  });
});
