// The operations that run now: who owns them, how to cancel them, how to hold back their output, and when all
// of them (or all of one connection) have ended. Bounded by the limit of active operations.

import { BurrowError } from '../protocol/errors.ts';
import type { RunningWork } from './work.ts';

export interface Operation {
  id: string;
  requestDigest: string;
  /** The connection that asked for it: only compared, never used. */
  owner: object;
  work: RunningWork;
}

export interface OwedAnswer {
  pause(): void;
  resume(): void;
}

export interface OperationTable {
  /** Throws `stopping`, `operation_in_progress`, `operation_id_conflict` or `too_many_operations` when `id` cannot start now. */
  admit(id: string, requestDigest: string): void;
  add(operation: Operation): void;
  remove(id: string): void;
  ids(): string[];
  /** False when no operation has this id. */
  cancel(id: string): boolean;
  /** Pauses or resumes all operations of `owner`, and those that it starts from now on. */
  holdBack(owner: object, held: boolean): void;
  /** Admits nothing from now on and cancels everything. */
  stop(): void;
  /** As `stop`, without the grace that what runs has to end by itself. */
  kill(): void;
  isStopping(): boolean;
  isHeldBack(owner: object): boolean;
  /**
   * An answer to `owner` that takes time although nothing runs: held back like an operation, and waited for by `idle` until
   * the function that this gives is called. Throws `too_many_operations` when as many answers are owed as operations may run.
   */
  owe(owner: object, answer: OwedAnswer): () => void;
  /** Resolves when nothing runs and nothing is owed (of `owner`, if given). */
  idle(owner?: object): Promise<void>;
}

export function createOperationTable(maxActive: number): OperationTable {
  const active = new Map<string, Operation>();
  /** One object for each answer that is owed. */
  const owed = new Set<{ owner: object; work: OwedAnswer }>();
  const heldOwners = new WeakSet<object>();
  let waiters: { owner: object | undefined; resolve: () => void }[] = [];
  let stopping = false;

  const isIdle = (owner: object | undefined): boolean => {
    if (owner === undefined) return active.size + owed.size === 0;
    for (const operation of active.values()) if (operation.owner === owner) return false;
    for (const answer of owed) if (answer.owner === owner) return false;
    return true;
  };
  const wakeWaiters = (): void => {
    if (waiters.length === 0) return;
    const ready = waiters.filter((waiter) => isIdle(waiter.owner));
    waiters = waiters.filter((waiter) => !ready.includes(waiter));
    for (const waiter of ready) waiter.resolve();
  };

  return {
    admit(id, requestDigest) {
      const running = active.get(id);
      if (running !== undefined) {
        throw new BurrowError(
          running.requestDigest === requestDigest ? 'operation_in_progress' : 'operation_id_conflict',
          {
            operationId: id,
          },
        );
      }
      if (stopping) throw new BurrowError('stopping', { operationId: id });
      if (active.size >= maxActive) {
        throw new BurrowError('too_many_operations', {
          operationId: id,
          message: `Cannot start: ${maxActive} operations are running already`,
        });
      }
    },
    add(operation) {
      active.set(operation.id, operation);
      if (heldOwners.has(operation.owner)) operation.work.pause();
      if (stopping) operation.work.cancel();
    },
    remove(id) {
      active.delete(id);
      wakeWaiters();
    },
    ids: () => [...active.keys()],
    cancel(id) {
      const operation = active.get(id);
      operation?.work.cancel();
      return operation !== undefined;
    },
    holdBack(owner, held) {
      if (held) heldOwners.add(owner);
      else heldOwners.delete(owner);
      for (const entry of [...active.values(), ...owed]) {
        if (entry.owner !== owner) continue;
        if (held) entry.work.pause();
        else entry.work.resume();
      }
    },
    stop() {
      stopping = true;
      for (const operation of active.values()) operation.work.cancel();
    },
    kill() {
      this.stop();
      for (const operation of active.values()) operation.work.kill?.();
    },
    isStopping: () => stopping,
    isHeldBack: (owner) => heldOwners.has(owner),
    owe(owner, work) {
      if (owed.size >= maxActive) {
        throw new BurrowError('too_many_operations', {
          message: `Cannot replay: ${maxActive} replays wait already`,
        });
      }
      const entry = { owner, work };
      owed.add(entry);
      return () => {
        owed.delete(entry);
        wakeWaiters();
      };
    },
    idle(owner) {
      if (isIdle(owner)) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ owner, resolve }));
    },
  };
}
