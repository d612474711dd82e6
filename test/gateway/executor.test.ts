import { describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import type { Journal, JournalRecord } from '../../src/gateway/journal/journal.ts';
import type { ProcessEvents } from '../../src/process/process.ts';
import { frameText } from '../../src/protocol/envelopes.ts';
import { BurrowError } from '../../src/protocol/errors.ts';
import { systemClock } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { sampleEvidence } from '../protocol/sample-evidence.ts';
import { noTelemetry } from '../telemetry/no-telemetry.ts';

// biome-ignore lint/suspicious/noExplicitAny: envelopes are looked into by tests that say what they expect
type Envelope = Record<string, any>;

interface FakeProcess {
  events: ProcessEvents;
  calls: string[];
}

interface World {
  gateway: Gateway;
  processes: FakeProcess[];
  records: { record: JournalRecord; done: (durable: boolean) => void }[];
  /** Outcomes that the journal has, by operation id. */
  stored: Map<string, JournalRecord>;
  /** Lets the reads of the journal go on. */
  read: PromiseWithResolvers<void>;
}

function world(maxActiveOperations = 9): World {
  const processes: FakeProcess[] = [];
  const records: World['records'] = [];
  const stored = new Map<string, JournalRecord>();
  const read = Promise.withResolvers<void>();
  const journal: Journal = {
    digestOf: (id) => stored.get(id)?.requestDigest,
    read: async (id) => {
      await read.promise;
      return stored.get(id)?.outcomeJson;
    },
    record: (record, done) => void records.push({ record, done }),
    status: () => ({ mode: 'memory', entries: 0, state: 'ok', warnings: [] }),
    close: () => Promise.resolve(),
  };
  const gateway = createGateway(
    {
      clock: systemClock,
      log: silentLog,
      version: '0',
      journal,
      telemetry: noTelemetry,
      gatewayId: 'here',
      cwd: () => '/',
      childEnvironment: () => ({}),
      startProcess(_, events) {
        const calls: string[] = [];
        processes.push({ events, calls });
        const call = (name: string) => (): void => void calls.push(name);
        return {
          cancel: call('cancel'),
          kill: call('kill'),
          pause: call('pause'),
          resume: call('resume'),
        };
      },
      runFilesystemTool: () => Promise.reject(new Error('No tool runs here')),
    },
    { maxActiveOperations, onShutdownRequest: () => {} },
  );
  return { gateway, processes, records, stored, read };
}

function connect({ gateway }: World, maxFrameBytes = 2 * 1024 * 1024) {
  const envelopes: Envelope[] = [];
  const session = gateway.connect({
    transport: 'stdio-jsonl',
    maxFrameBytes,
    send: (frame) => void envelopes.push(JSON.parse(frameText(frame))),
  });
  const exec = (id: string, params: object): void =>
    session.receive(Buffer.from(JSON.stringify({ id, method: 'process.exec', params })));
  const ask = (method: string): Envelope => {
    session.receive(Buffer.from(JSON.stringify({ id: 'ask', method })));
    return envelopes.at(-1) ?? {};
  };
  return { session, envelopes, exec, ask };
}

const REQUEST = { operationId: 'o', command: 'x' };

/** Runs the request to its end and keeps its outcome. */
function complete(place: World, peer: ReturnType<typeof connect>, params: object = REQUEST): void {
  peer.exec('1', params);
  const started = place.processes.at(-1);
  started?.events.onStarted();
  started?.events.onEnd(sampleEvidence());
  const { record, done } = place.records.at(-1) ?? {};
  if (record !== undefined) place.stored.set(record.operationId, record);
  done?.(true);
}

describe('an execute request', () => {
  it('is answered only when its outcome is safe, and is in progress until then', () => {
    const place = world();
    const peer = connect(place);
    peer.exec('1', REQUEST);
    place.processes[0]?.events.onStarted();
    place.processes[0]?.events.onEnd(sampleEvidence());

    expect(peer.envelopes.map(({ type }) => type)).toEqual(['accepted', 'process.terminal']);
    peer.exec('2', REQUEST);
    expect(peer.envelopes.at(-1)).toMatchObject({ requestId: '2', error: { code: 'operation_in_progress' } });
    place.records[0]?.done(true);
    expect(peer.envelopes.at(-1)).toMatchObject({ requestId: '1', ok: true, result: { replay: false } });
    expect(place.processes).toHaveLength(1);
  });

  it('says when the disk refused its outcome', () => {
    const place = world();
    const peer = connect(place);
    peer.exec('1', REQUEST);
    place.processes[0]?.events.onStarted();
    place.processes[0]?.events.onEnd(sampleEvidence());
    place.records[0]?.done(false);

    expect(peer.envelopes.at(-1)).toMatchObject({ ok: true, result: { journaled: false } });
  });

  it('that could not start is answered alone and journalled nowhere', () => {
    const place = world();
    const peer = connect(place);
    peer.exec('1', REQUEST);
    place.processes[0]?.events.onRefused(new BurrowError('spawn_failed', { errno: 'ENOENT' }));

    expect(peer.envelopes).toEqual([
      expect.objectContaining({ type: 'response', error: expect.objectContaining({ operationId: 'o' }) }),
    ]);
    expect(place.records).toEqual([]);
    expect(peer.ask('health')['result'].activeOperations).toEqual([]);
  });

  it('that is complete is answered before its connection counts as idle', async () => {
    const place = world();
    const peer = connect(place);
    complete(place, peer);
    const before = peer.envelopes.length;
    peer.exec('2', REQUEST);
    const order: string[] = [];
    const idle = peer.session.idle().then(() => order.push(`idle after ${peer.envelopes.length - before}`));
    const stopped = place.gateway
      .stop()
      .then(() => order.push(`stopped after ${peer.envelopes.length - before}`));
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    place.read.resolve();
    await Promise.all([idle, stopped]);

    expect(order.sort()).toEqual(['idle after 1', 'stopped after 1']);
    expect(peer.envelopes.at(-1)).toMatchObject({ requestId: '2', result: { replay: true } });
  });

  it('is not replayed to a peer that does not read, until it does', async () => {
    const place = world(50);
    const peer = connect(place);
    complete(place, peer);
    place.read.resolve();
    peer.session.setSaturated(true);
    const before = peer.envelopes.length;
    for (let n = 0; n < 20; n += 1) peer.exec(`r${n}`, REQUEST);
    await new Promise(setImmediate);
    expect(peer.envelopes).toHaveLength(before);
    const other = connect(place);
    other.exec('other', REQUEST);
    await other.session.idle();
    expect(other.envelopes.at(-1)).toMatchObject({ requestId: 'other', result: { replay: true } });

    peer.session.setSaturated(false);
    await peer.session.idle();
    expect(peer.envelopes.slice(before).map(({ requestId }) => requestId)).toEqual(
      Array.from({ length: 20 }, (_, n) => `r${n}`),
    );
  });

  it('whose outcome expired between the look and the read is not run behind the back of its sender', async () => {
    const place = world();
    const peer = connect(place);
    complete(place, peer);
    peer.exec('2', REQUEST);
    place.stored.clear();
    place.read.resolve();
    await peer.session.idle();

    expect(peer.envelopes.at(-1)).toMatchObject({ ok: false, error: { code: 'operation_in_progress' } });
    expect(place.processes).toHaveLength(1);
  });

  it('is replayed to a connection with smaller frames, shortened', async () => {
    const place = world();
    complete(place, connect(place));
    const record = place.stored.get('o');
    const outcome = { ...JSON.parse(record?.outcomeJson ?? ''), stdout: 'x'.repeat(10_000) };
    if (record !== undefined) place.stored.set('o', { ...record, outcomeJson: JSON.stringify(outcome) });
    place.read.resolve();
    const narrow = connect(place, 4_096);
    narrow.exec('2', REQUEST);
    await narrow.session.idle();

    expect(narrow.envelopes.at(-1)?.['result'].outcome).toMatchObject({ transportTruncated: true });
    expect(JSON.stringify(narrow.envelopes.at(-1)).length).toBeLessThan(4_096);
  });

  it('that a stop cancels is answered before the stop is done', async () => {
    const place = world();
    const peer = connect(place);
    peer.exec('1', REQUEST);
    place.processes[0]?.events.onStarted();
    const stopped = place.gateway.stop();
    expect(place.processes[0]?.calls).toEqual(['cancel']);
    place.processes[0]?.events.onEnd({ ...sampleEvidence(), cancelled: true });
    place.records[0]?.done(true);
    await stopped;

    expect(peer.envelopes.map(({ type }) => type)).toEqual(['accepted', 'process.terminal', 'response']);
  });
});

describe('shutdown', () => {
  it('takes no work from the very next line on', () => {
    const place = world();
    const peer = connect(place);
    peer.ask('shutdown');
    peer.exec('late', REQUEST);

    expect(peer.envelopes.at(-1)).toMatchObject({ requestId: 'late', error: { code: 'stopping' } });
    expect(peer.ask('health')['result'].status).toBe('stopping');
    expect(place.processes).toEqual([]);
  });
});

describe('health', () => {
  it('names as many operations as a frame surely holds, and counts the others', () => {
    const place = world(3_000);
    const peer = connect(place);
    for (let n = 0; n < 1_500; n += 1)
      peer.exec(`${n}`, { operationId: `${String(n).padStart(6, '0')}${'\x01'.repeat(250)}`, command: 'x' });
    const health = peer.ask('health');

    expect(health['result'].activeOperations).toHaveLength(1_024);
    expect(health['result'].activeOperationsLeftOut).toBe(476);
    expect(JSON.stringify(health).length).toBeLessThan(2 * 1024 * 1024 - 64 * 1024);
    expect(peer.ask('shutdown')['result'].activeOperationsLeftOut).toBe(476);
  });
});
