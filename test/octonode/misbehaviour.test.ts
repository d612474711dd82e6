// Whatever a node does, the engine answers with a valid envelope in time and leaves nothing behind.
// MISBEHAVIOURS=10000 makes the run as long as the figure in docs/nodes.md.
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNodeWorker, invokeNode } from '../../src/octonode/octonode.ts';
import { activeResources, descriptorCount, isValidEnvelope, options, scripted, until } from './nodes.ts';

const RUNS = Number(process.env.MISBEHAVIOURS ?? 150);
/** The machine is shared: what is measured is the engine, not the queue for a processor. */
const SIDE_BY_SIDE = 8;
const TIMEOUT_MS = 300;
const KILL_LIMIT_MS = 1_500;
const MARK = `MISBEHAVIOUR_${process.pid}`;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('read', 'answer') },
  fc.constantFrom('deaf', 'close:0', 'close:1', 'close:2', 'hold:3000', 'quiet:3000', 'loop'),
  fc.constantFrom('kill:KILL', 'kill:TERM', 'kill:SEGV', 'exit:0', 'exit:3'),
  fc.integer({ min: 0, max: 600 }).map((ms) => `sleep:${ms}`),
  fc.constantFrom('err:10', 'err:100000', 'flood:65536', 'flood:1048576'),
  fc
    .constantFrom('hi\n', '\n', '{', '{}\n', 'null', '[', '\\xef\\xbb\\xbf', '\\xff\\xfe', '\\x00', 'NaN\n')
    .map((text) => `print:${text}`),
  fc
    .constantFrom(
      '"invocationId":"other"',
      '"invocationId":7',
      '"type":"manifest"',
      '"status":"no"',
      '"octonode":"2"',
      '"outputs":NaN',
    )
    .map(
      (field) =>
        `print:{"octonode":"1","type":"result","invocationId":"%ID%","status":"ok","outputs":1,${field}}\n`,
    ),
  fc.string({ maxLength: 30 }).map((text) => `print:${text.replaceAll('\0', '')}`),
);
const script = fc.array(step, { maxLength: 8 });
const scenario = fc.record({
  steps: script,
  inputs: fc.constantFrom({}, 'x'.repeat(300_000)),
  asWorker: fc.boolean(),
});

function marked(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=1`);
    } catch {
      return false;
    }
  });
}

interface Scenario {
  steps: string[];
  inputs: unknown;
  asWorker: boolean;
}

async function run({ steps, inputs, asWorker }: Scenario): Promise<void> {
  const env = { ...(process.env as Record<string, string>), [MARK]: '1' };
  const settings = options({ env, maxAnswerBytes: 500_000 });
  const command = scripted(...steps);
  if (!asWorker) return check(() => invokeNode(command, inputs, { ...settings, timeoutMs: TIMEOUT_MS }));
  const worker = createNodeWorker(command, { ...settings, concurrency: 2 });
  await Promise.all([1, 2, 3].map(() => check(() => worker.invoke(inputs, { timeoutMs: TIMEOUT_MS }))));
  await worker.close();
}

async function check(call: () => ReturnType<typeof invokeNode>): Promise<void> {
  const startedAt = performance.now();
  const envelope = await call();
  expect(isValidEnvelope(envelope, 'invoke')).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS + KILL_LIMIT_MS);
}

describe('the engine', () => {
  it('answers any misbehaviour with a valid envelope in time and leaves nothing behind', {
    timeout: 60_000 + RUNS * 400,
  }, async () => {
    const before = {
      descriptors: descriptorCount(),
      resources: activeResources(),
      listeners: listenerCount(),
    };

    const property = fc.asyncProperty(
      fc.array(scenario, { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE }),
      async (scenarios) => {
        await Promise.all(scenarios.map(run));
      },
    );
    await fc.assert(property, { numRuns: Math.ceil(RUNS / SIDE_BY_SIDE), endOnFailure: true });

    await until(() => marked().length === 0);
    await until(() => descriptorCount() <= before.descriptors);
    await until(() => activeResources() <= before.resources);
    expect(listenerCount()).toBe(before.listeners);
  });
});

function listenerCount(): number {
  return process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
}
