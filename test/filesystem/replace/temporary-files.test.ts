import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryFiles } from '../../../src/filesystem/replace/temporary-files.ts';
import { temporaryDirectory } from '../call-tool.ts';

const ID = '0123456789abcdef';

function endedPid(): number {
  return spawnSync('true').pid;
}

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** A temporary file with a record of it, as a process leaves them behind. */
function leaveBehind(owner: string, target?: string) {
  const records = temporaryDirectory();
  const temporary = join(temporaryDirectory(), `.burrow-${ID}.tmp`);
  writeFileSync(temporary, 'half');
  symlinkSync(target ?? temporary, join(records, `burrow-write-${owner}-${ID}`));
  return { records, temporary };
}

describe('createTemporaryFiles().sweep()', () => {
  it('removes what an ended process left behind', async () => {
    const { records, temporary } = leaveBehind(`${endedPid()}-1`);

    expect(await createTemporaryFiles(records).sweep()).toBe(1);

    expect(existsSync(temporary)).toBe(false);
    expect(readdirSync(records)).toEqual([]);
  });

  it('leaves alone what a running process is writing', async () => {
    const { records, temporary } = leaveBehind(`${process.ppid}-${startOf(process.ppid)}`);

    expect(await createTemporaryFiles(records).sweep()).toBe(0);

    expect(existsSync(temporary)).toBe(true);
    expect(readdirSync(records)).toHaveLength(1);
  });

  it('is not misled by a pid that was given again', async () => {
    const { records, temporary } = leaveBehind(`${process.ppid}-1`);

    expect(await createTemporaryFiles(records).sweep()).toBe(1);

    expect(existsSync(temporary)).toBe(false);
  });

  it('removes a record whose file is gone', async () => {
    const { records } = leaveBehind(`${endedPid()}-1`, `/nowhere/.burrow-${ID}.tmp`);

    expect(await createTemporaryFiles(records).sweep()).toBe(0);

    expect(readdirSync(records)).toEqual([]);
  });

  it('touches no file that is not named like a temporary file of the record', async () => {
    const victim = join(temporaryDirectory(), 'victim');
    writeFileSync(victim, 'dear');
    const { records } = leaveBehind(`${endedPid()}-1`, victim);
    writeFileSync(join(records, `burrow-write-${endedPid()}-1-fedcba9876543210`), victim);
    symlinkSync(victim, join(records, 'something-else'));

    expect(await createTemporaryFiles(records).sweep()).toBe(0);

    expect(readFileSync(victim, 'utf8')).toBe('dear');
    expect(readdirSync(records)).toHaveLength(3);
  });

  it('has nothing to do without a directory of records', async () => {
    expect(await createTemporaryFiles('/nowhere').sweep()).toBe(0);
  });
});
