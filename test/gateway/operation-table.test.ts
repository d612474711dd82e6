import { describe, expect, it } from 'vitest';
import { createOperationTable, type Operation } from '../../src/gateway/operation-table.ts';

interface FakeOperation extends Operation {
  calls: string[];
}

function operation(id: string, owner: object = {}): FakeOperation {
  const calls: string[] = [];
  const call = (name: string) => (): void => void calls.push(name);
  return {
    id,
    requestDigest: `digest of ${id}`,
    owner,
    work: { cancel: call('cancel'), pause: call('pause'), resume: call('resume') },
    calls,
  };
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise(setImmediate);
  return settled;
}

describe('createOperationTable()', () => {
  it('admits what is new and tells a duplicate from a conflict', () => {
    const table = createOperationTable(2);
    table.admit('a', 'x');
    table.add(operation('a'));

    expect(() => table.admit('a', 'digest of a')).toThrow(
      expect.objectContaining({ code: 'operation_in_progress' }),
    );
    expect(() => table.admit('a', 'other')).toThrow(
      expect.objectContaining({ code: 'operation_id_conflict' }),
    );
    expect(table.ids()).toEqual(['a']);
  });

  it('refuses one more than its limit, but tells a duplicate what it is', () => {
    const table = createOperationTable(1);
    table.add(operation('a'));

    expect(() => table.admit('b', 'x')).toThrow(expect.objectContaining({ code: 'too_many_operations' }));
    expect(() => table.admit('a', 'digest of a')).toThrow(
      expect.objectContaining({ code: 'operation_in_progress' }),
    );
    table.remove('a');
    table.admit('b', 'x');
  });

  it('cancels one, and says when there is none', () => {
    const table = createOperationTable(2);
    const [a, b] = [operation('a'), operation('b')];
    table.add(a);
    table.add(b);

    expect(table.cancel('a')).toBe(true);
    expect(table.cancel('c')).toBe(false);
    expect([a.calls, b.calls]).toEqual([['cancel'], []]);
  });

  it('holds back what an owner runs and what it starts later, nobody else', () => {
    const table = createOperationTable(9);
    const [slow, quick] = [{}, {}];
    const [before, other] = [operation('before', slow), operation('other', quick)];
    table.add(before);
    table.add(other);
    table.holdBack(slow, true);
    const later = operation('later', slow);
    table.add(later);
    table.holdBack(slow, false);
    const last = operation('last', slow);
    table.add(last);

    expect(before.calls).toEqual(['pause', 'resume']);
    expect(later.calls).toEqual(['pause', 'resume']);
    expect([other.calls, last.calls]).toEqual([[], []]);
  });

  it('holds back the answers that it owes too, and owes no more than operations may run', () => {
    const table = createOperationTable(1);
    const slow = {};
    const answer = operation('answer');
    const answered = table.owe(slow, answer.work);
    table.holdBack(slow, true);
    table.holdBack(slow, false);

    expect(answer.calls).toEqual(['pause', 'resume']);
    expect(() => table.owe({}, answer.work)).toThrow(
      expect.objectContaining({ code: 'too_many_operations' }),
    );
    answered();
    table.owe({}, answer.work);
  });

  it('cancels everything when it stops, also what is added just then, and admits nothing', () => {
    const table = createOperationTable(9);
    const [early, late] = [operation('early'), operation('late')];
    table.add(early);
    table.stop();
    table.add(late);

    expect([early.calls, late.calls]).toEqual([['cancel'], ['cancel']]);
    expect(table.isStopping()).toBe(true);
    expect(() => table.admit('new', 'x')).toThrow(expect.objectContaining({ code: 'stopping' }));
    expect(() => table.admit('early', 'digest of early')).toThrow(
      expect.objectContaining({ code: 'operation_in_progress' }),
    );
  });

  it('is idle for an owner when its operations are gone and its answers given', async () => {
    const table = createOperationTable(9);
    const [mine, theirs] = [{}, {}];
    table.add(operation('a', mine));
    table.add(operation('b', theirs));
    const answered = table.owe(mine, operation('answer').work);
    const [idle, allIdle] = [table.idle(mine), table.idle()];

    table.remove('a');
    expect(await isSettled(idle)).toBe(false);
    answered();
    expect(await isSettled(idle)).toBe(true);
    expect(await isSettled(allIdle)).toBe(false);
    table.remove('b');
    expect(await isSettled(allIdle)).toBe(true);
    expect(await isSettled(table.idle())).toBe(true);
  });
});
