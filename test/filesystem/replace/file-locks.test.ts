import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFileLocks } from '../../../src/filesystem/replace/file-locks.ts';

const { signal } = new AbortController();

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
      locks.exclusive('a', signal, work('1')),
      locks.exclusive('a', signal, work('2')),
      locks.exclusive('b', signal, work('3')),
    ]);

    expect(seen).toEqual(['1 starts', '3 starts', '1 ends', '2 starts', '3 ends', '2 ends']);
  });

  it('goes on behind work that failed, which alone learns of it', async () => {
    const locks = createFileLocks();
    const failing = locks.exclusive('a', signal, () => Promise.reject(new Error('mine')));
    const next = locks.exclusive('a', signal, async () => 'done');

    await expect(failing).rejects.toThrow('mine');
    expect(await next).toBe('done');
  });

  it('ends the wait of cancelled work at once, without letting anybody past', async () => {
    const locks = createFileLocks();
    const cancelling = new AbortController();
    const first = Promise.withResolvers<void>();
    const seen: string[] = [];
    const running = locks.exclusive('a', signal, () => first.promise);
    const waiting = locks.exclusive('a', cancelling.signal, async () => void seen.push('cancelled work'));
    const last = locks.exclusive('a', signal, async () => void seen.push('last'));

    cancelling.abort();
    await expect(waiting).rejects.toBe(cancelling.signal.reason);
    const later = locks.exclusive('a', signal, async () => void seen.push('later'));
    await setImmediate();
    expect(seen).toEqual([]);
    first.resolve();
    await Promise.all([running, last, later]);

    expect(seen).toEqual(['last', 'later']);
  });
});
