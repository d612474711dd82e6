// The living instances of services, by lifecycle: one for a call, one for a workflow run, or one for the whole process.
// Each is created once, however many calls want it at a time, and disposed once, when nobody uses it any more.

import { MAX_RUN_INSTANCES } from '../limits.ts';
import type { RunContext } from '../sdk/sdk.ts';
import type { ServiceDefinition } from './definitions.ts';

export interface Instances {
  /** Rejects with what `create` threw; the next call then creates anew. */
  acquire(
    service: ServiceDefinition,
    context: RunContext,
  ): Promise<{ instance: unknown; release(): Promise<void> }>;
  /** Disposes all that live; call it when no call runs any more. */
  disposeAll(): Promise<void>;
}

interface Entry {
  service: ServiceDefinition;
  created: Promise<unknown>;
  users: number;
}

/** `onDisposeError` gets what a dispose threw: the answer is out by then. */
export function createInstances(onDisposeError: (id: string, error: unknown) => void): Instances {
  const shared = new Map<string, Entry>();

  async function dispose({ service, created }: Entry): Promise<void> {
    try {
      await service.dispose(await created);
    } catch (error) {
      onDisposeError(service.id, error);
    }
  }

  function evictIdle(): void {
    if (shared.size < MAX_RUN_INSTANCES) return;
    for (const [key, entry] of shared) {
      if (entry.users > 0 || entry.service.lifecycle === 'worker') continue;
      shared.delete(key);
      void dispose(entry);
      return;
    }
  }

  return {
    async acquire(service, context) {
      const key = sharingKey(service, context);
      const known = key === undefined ? undefined : shared.get(key);
      const entry: Entry = known ?? { service, created: create(service, context), users: 0 };
      entry.users += 1;
      if (key !== undefined && known === undefined) {
        evictIdle();
        shared.set(key, entry);
      }
      try {
        const instance = await entry.created;
        return {
          instance,
          async release() {
            entry.users -= 1;
            if (key === undefined) await dispose(entry);
          },
        };
      } catch (error) {
        if (key !== undefined && shared.get(key) === entry) shared.delete(key);
        throw error;
      }
    },
    async disposeAll() {
      const entries = [...shared.values()];
      shared.clear();
      await Promise.all(entries.map(dispose));
    },
  };
}

async function create(service: ServiceDefinition, context: RunContext): Promise<unknown> {
  return service.create(context);
}

/** Undefined: the instance is for one call. A workflow-run service outside a run has nothing to share it with. */
function sharingKey({ id, lifecycle }: ServiceDefinition, { runId }: RunContext): string | undefined {
  if (lifecycle === 'worker') return JSON.stringify([id]);
  return lifecycle === 'workflow-run' && runId !== undefined ? JSON.stringify([id, runId]) : undefined;
}
