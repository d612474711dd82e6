// Drives the built daemon over its stdin and stdout as a stranger would: raw lines in, every line out recorded and checked
// for its length, waits that end with what was looked for or say what came instead. Never waits for a fixed time.
import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../until.ts';

export { until };

export const BURROW = process.env['BURROW_BINARY'] ?? new URL('../../dist/burrow', import.meta.url).pathname;
const MAX_LINE_BYTES = 2 * 1024 * 1024;

const PATIENCE_MS = 10_000;
const STOP_PATIENCE_MS = 4_000;

/** A line of the daemon; the fields are whatever the test looks for. */
// biome-ignore lint/suspicious/noExplicitAny: envelopes are looked into by tests that say what they expect
export type Envelope = Record<string, any>;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface DaemonOptions {
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** The program and its first arguments in place of `dist/burrow daemon`. */
  command?: readonly [string, ...string[]];
}

export interface Daemon {
  child: ChildProcess;
  pid: number;
  /** All lines so far, in order. */
  envelopes: Envelope[];
  /** A string goes as it is, with a newline; anything else as JSON. */
  send(...requests: unknown[]): void;
  waitFor(what: string, matches: (envelope: Envelope) => boolean): Promise<Envelope>;
  /** The response or error to this request id. */
  answer(id: unknown): Promise<Envelope>;
  /** Sends one request and waits for its answer. */
  ask(method: string, params?: object): Promise<Envelope>;
  exec(params: object): Promise<Envelope>;
  stderr(): string;
  /** Ends its input. */
  end(): void;
  ended: Promise<Ended>;
}

/** It is ended with the test, whatever happened. */
export function startDaemon(options: DaemonOptions = {}): Daemon {
  const [file, ...first] = options.command ?? [BURROW, 'daemon'];
  const child = spawn(file, [...first, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: { ...process.env, BURROW_GATEWAY_STATE_DIR: undefined, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code, signal]): Ended => ({ code, signal }));
  onTestFinished(async () => {
    // Not SIGKILL at once: what it runs ends with it.
    child.kill('SIGTERM');
    child.stdout?.destroy();
    const patience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await ended;
    clearTimeout(patience);
  });
  // A daemon that ended does not read: the test sees its end.
  child.stdin?.on('error', () => {});
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const envelopes: Envelope[] = [];
  const watchers = new Set<() => void>();
  child.stdout?.once('close', () => {
    for (const watcher of watchers) watcher();
  });
  readLines(child, (line) => {
    envelopes.push(parseLine(line));
    for (const watcher of watchers) watcher();
  });
  let nextId = 1;

  const waitFor: Daemon['waitFor'] = (what, matches) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        watchers.delete(look);
        clearTimeout(patience);
      };
      const fail = (why: string): void => {
        stop();
        reject(new Error(`${why} while waiting for ${what}; got ${tail(envelopes)}; stderr: ${stderr}`));
      };
      let seen = 0;
      const look = (): void => {
        for (; seen < envelopes.length; seen += 1) {
          const envelope = envelopes[seen];
          if (envelope === undefined || !matches(envelope)) continue;
          stop();
          return resolve(envelope);
        }
        if (child.stdout?.closed === true) fail('Output ended');
      };
      const patience = setTimeout(() => fail(`${PATIENCE_MS} ms went by`), PATIENCE_MS);
      watchers.add(look);
      look();
    });
  const answer: Daemon['answer'] = (id) =>
    waitFor(
      `the answer to ${JSON.stringify(id)}`,
      ({ type, requestId }) => (type === 'response' || type === 'error') && requestId === id,
    );
  const send: Daemon['send'] = (...requests) => {
    for (const request of requests) {
      child.stdin?.write(`${typeof request === 'string' ? request : JSON.stringify(request)}\n`);
    }
  };
  const ask: Daemon['ask'] = (method, params) => {
    const id = `auto-${nextId++}`;
    send({ id, method, params });
    return answer(id);
  };
  return {
    child,
    pid: child.pid ?? 0,
    envelopes,
    send,
    waitFor,
    answer,
    ask,
    exec: (params) => ask('process.exec', params),
    stderr: () => stderr,
    end: () => child.stdin?.end(),
    ended,
  };
}

function readLines(child: ChildProcess, onLine: (line: Buffer) => void): void {
  let parts: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end + 1));
      onLine(Buffer.concat(parts));
      parts = [];
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
  });
}

/** A line that is too long, not UTF-8 or not JSON fails whoever waits: it matches nothing and is shown. */
function parseLine(line: Buffer): Envelope {
  try {
    if (line.length > MAX_LINE_BYTES) throw new Error(`line of ${line.length} bytes`);
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch (error) {
    return { type: 'BROKEN', problem: String(error), start: line.subarray(0, 100).toString() };
  }
}

function tail(envelopes: Envelope[]): string {
  return envelopes
    .slice(-5)
    .map((envelope) => JSON.stringify(envelope).slice(0, 300))
    .join(' ');
}

/** Runs `burrow` to its end with no terminal and the given input. */
export function burrow(
  args: readonly string[],
  more: { input?: string; cwd?: string; env?: Record<string, string | undefined> | undefined } = {},
): SpawnSyncReturns<string> {
  return spawnSync(BURROW, args, {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    maxBuffer: 64 * 1024 * 1024,
    input: '',
    ...more,
    env: { ...process.env, BURROW_GATEWAY_STATE_DIR: undefined, ...more.env },
  });
}

/** Removed with the test. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'burrow-e2e-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** What a file holds once its last line is whole. */
export function readWhenWhole(path: string): Promise<string> {
  return until(`"${path}" is written`, () => {
    if (!existsSync(path)) return undefined;
    const text = readFileSync(path, 'utf8');
    return text.endsWith('\n') && text;
  });
}

/** Running processes that have `mark` in their command line, the daemon's own ones left out. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        const isDead = /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        return !isDead && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
      } catch {
        return false; // It ended while it was looked at.
      }
    });
}

/** `VmRSS` or `VmHWM`, in MiB. */
export function memoryMiB(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

/** Whether this host has the program and lets this user run it so: tests of odd hosts are skipped without. */
export function canRun(file: string, ...args: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}
