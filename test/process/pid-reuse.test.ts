import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'burrow-strace-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('signals', () => {
  it('never go to a number that was already waited for', async () => {
    const log = join(directory, 'strace');
    const fixture = resolve(import.meta.dirname, '../fixtures/cancel-at-exit.ts');
    await promisify(execFile)('strace', [
      '-qq',
      '-e',
      'trace=kill,wait4,waitid',
      '-e',
      'signal=none',
      '-o',
      log,
      process.execPath,
      fixture,
    ]);

    const waited = new Set<number>();
    const strays: string[] = [];
    let kills = 0;
    for (const line of readFileSync(log, 'utf8').split('\n')) {
      const wait = /^wait4\((\d+), .* = (\d+)$/.exec(line);
      if (wait !== null && wait[1] === wait[2]) waited.add(Number(wait[1]));
      const kill = /^kill\(-?(\d+), /.exec(line);
      if (kill === null) continue;
      kills += 1;
      if (waited.has(Number(kill[1]))) strays.push(line);
    }
    expect(waited.size).toBe(80);
    expect(kills).toBeGreaterThan(0);
    expect(strays).toEqual([]);
  });
});
