// Writes that end in the middle: the old file is whole, and no temporary file is left after the next start.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FilesystemOutcome } from '../../../src/filesystem/filesystem.ts';
import { callToolThrough, childCommand, isRoot, temporaryDirectory } from '../call-tool.ts';

const CASES: [string, object][] = [
  ['files_write', { content: 'n'.repeat(100_000) }],
  ['files_edit', { oldText: 'old', newText: 'n'.repeat(100_000) }],
];

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

describe('an interrupted write', () => {
  it.runIf(isRoot).each(CASES)('%s on a disk that fills half-way leaves the old file', (tool, rest) => {
    const directory = temporaryDirectory();
    const command = childCommand(tool, { filePath: join(directory, 'file'), ...rest });
    // The mount lives in a name space of its own and goes with it.
    const script = `mount -t tmpfs -o size=64k none "$0" && printf old > "$0/file" && "$@" && echo && ls -A "$0" && cat "$0/file"`;

    const printed = execFileSync('unshare', ['-m', 'sh', '-c', script, directory, ...command], {
      encoding: 'utf8',
    });

    const [outcome = '', ...rest_] = printed.split('\n');
    expect(JSON.parse(outcome) as FilesystemOutcome).toMatchObject({ ok: false, error: 'ENOSPC' });
    expect(rest_).toEqual(['file', 'old']);
  });

  it.each(CASES)('%s under "ulimit -f 0" leaves the old file', (tool, rest) => {
    const directory = temporaryDirectory();
    const filePath = join(directory, 'file');
    writeFileSync(filePath, 'old');

    const outcome = callToolThrough(['sh', '-c', 'ulimit -f 0; exec "$0" "$@"'], tool, { filePath, ...rest });

    expect(outcome).toMatchObject({ ok: false, error: 'EFBIG' });
    expect(readFileSync(filePath, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it('killed in the middle of 100 MB leaves the old file, and nothing else after the next start', async () => {
    const directory = temporaryDirectory();
    const filePath = join(directory, 'file');
    const content = Buffer.alloc(100 * 1024 * 1024, 'some old text\n');
    content.write('NEEDLE', content.length - 6);
    writeFileSync(filePath, content);
    const before = digest(filePath);
    const edit = { filePath, oldText: 'NEEDLE', newText: 'needle' };

    // Records of its own: other tests write at the same time.
    const records = temporaryDirectory();
    const start = ['env', `TMPDIR=${records}`];
    const temporary = await killMidway(directory, [...start, ...childCommand('files_edit', edit)]);

    expect(digest(filePath)).toBe(before);
    expect(existsSync(join(directory, temporary))).toBe(true);
    expect(readdirSync(records)).toEqual([expect.stringMatching(/^burrow-write-/)]);
    const next = callToolThrough(start, 'files_inspect', { path: filePath });
    expect(next.ok).toBe(true);
    expect(readdirSync(directory)).toEqual(['file']);
    expect(readdirSync(records)).toEqual([]);
  });
});

/** Kills the process once its temporary file has begun to grow; resolves to that file's name. */
async function killMidway(directory: string, [file = '', ...rest]: string[]): Promise<string> {
  const child = spawn(file, rest, { stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', done));
  while (child.exitCode === null) {
    const temporary = readdirSync(directory).find((name) => name.endsWith('.tmp'));
    const sizeBytes =
      temporary === undefined
        ? 0
        : (statSync(join(directory, temporary), { throwIfNoEntry: false })?.size ?? 0);
    if (sizeBytes > 0) {
      child.kill('SIGKILL');
      await ended;
      return temporary ?? '';
    }
    await delay(1);
  }
  throw new Error('The write was over before it could be interrupted');
}
