import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFileLocks } from '../../../src/filesystem/replace/file-locks.ts';

describe('createFileLocks()', () => {
  it('runs work on one path in turn and on others beside it', async () => {
    const locks = createFileLocks();
    const seen: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      seen.push(`${name} starts`);
      await setImmediate();
      await setImmediate();
      seen.push(`${name} ends`);
    };

    await Promise.all([
      locks.exclusive('a', work('1')),
      locks.exclusive('a', work('2')),
      locks.exclusive('b', work('3')),
    ]);

    expect(seen).toEqual(['1 starts', '3 starts', '1 ends', '2 starts', '3 ends', '2 ends']);
  });

  it('goes on behind work that failed, which alone learns of it', async () => {
    const locks = createFileLocks();
    const failing = locks.exclusive('a', () => Promise.reject(new Error('mine')));
    const next = locks.exclusive('a', async () => 'done');

    await expect(failing).rejects.toThrow('mine');
    expect(await next).toBe('done');
  });
});
