import { describe, expect, it } from 'vitest';
import type { ChannelEvents } from '../../src/client/channel.ts';
import { createGatewayClient } from '../../src/client/client.ts';
import { sampleEvidence } from '../protocol/sample-evidence.ts';

/** A gateway that says what the test lets it say. */
function connect() {
  const sent: { id: string; method: string; params: Record<string, unknown> }[] = [];
  const calls: string[] = [];
  let events: ChannelEvents | undefined;
  const client = createGatewayClient((given) => {
    events = given;
    return {
      send: (line) => void sent.push(JSON.parse(line)),
      pause: () => void calls.push('pause'),
      resume: () => void calls.push('resume'),
      close: async () => void calls.push('close'),
    };
  });
  const say = (...envelopes: (object | string)[]): void => {
    for (const envelope of envelopes)
      events?.onFrame(Buffer.from(typeof envelope === 'string' ? envelope : JSON.stringify(envelope)));
  };
  const end = (reason: string): void => events?.onClosed(reason);
  return { client, sent, calls, say, end };
}

const stream = (operationId: string, seq: number, data: string) => ({
  type: 'process.stream',
  operationId,
  stream: 'stdout',
  seq,
  data,
  truncated: false,
});
const accepted = (requestId: string, operationId: string) => ({
  type: 'accepted',
  requestId,
  ok: true,
  operationId,
  protocolVersion: '1.0',
});
const response = (requestId: string, result: object) => ({ type: 'response', requestId, ok: true, result });

describe('createGatewayClient()', () => {
  it('brings each answer to its call, in whatever order they come', async () => {
    const { client, sent, say } = connect();
    const [first, second] = [client.call('hello'), client.call('health', { a: 1 })];
    say(response('c2', { n: 2 }), response('c1', { n: 1 }));

    expect(sent).toEqual([
      { id: 'c1', method: 'hello', params: {} },
      { id: 'c2', method: 'health', params: { a: 1 } },
    ]);
    expect(await first).toEqual({ status: 'ok', result: { n: 1 } });
    expect(await second).toEqual({ status: 'ok', result: { n: 2 } });
  });

  it('brings the events of an operation to the call that runs it', async () => {
    const { client, say } = connect();
    const told: string[] = [];
    const events = (name: string) => ({
      onAccepted: (id: string) => void told.push(`${name} accepted ${id}`),
      onStream: ({ data }: { data: string }) => void told.push(`${name} ${data}`),
    });
    const a = client.execute('process.exec', {}, events('a'));
    const b = client.execute('process.exec', {}, events('b'));
    say(accepted('c1', 'A'), accepted('c2', 'B'), stream('B', 1, 'of b'), stream('A', 1, 'of a'));
    say({ type: 'process.terminal', operationId: 'A', seq: 2, evidence: sampleEvidence() });
    say(response('c1', { outcome: 1 }), stream('A', 3, 'too late'), response('c2', { outcome: 2 }));

    expect(told).toEqual(['a accepted A', 'b accepted B', 'b of b', 'a of a']);
    expect(await a).toEqual({ status: 'ok', result: { outcome: 1 } });
    expect(await b).toEqual({ status: 'ok', result: { outcome: 2 } });
  });

  it('gives a refusal as data, also one with a code of the future', async () => {
    const { client, say } = connect();
    const [known, envelope] = [client.call('x'), client.call('y')];
    say({ type: 'response', requestId: 'c1', ok: false, error: { code: 'new_code', message: 'M', hint: 1 } });
    say({ type: 'error', requestId: 'c2', ok: false, error: { code: 'unknown_method' } });

    expect(await known).toEqual({
      status: 'refused',
      error: { code: 'new_code', message: 'M', details: { hint: 1 } },
    });
    expect(await envelope).toEqual({
      status: 'refused',
      error: { code: 'unknown_method', message: 'unknown_method', details: {} },
    });
  });

  it('is not moved by what it did not ask for', async () => {
    const { client, say } = connect();
    const call = client.call('hello');
    say('nonsense', '[]', '{"type":"future","a":1}', response('c9', {}), response('constructor', {}));
    say(
      { type: 'response', requestId: 1, ok: true, result: {} },
      stream('nobody', 1, 'x'),
      accepted('c7', 'Z'),
    );
    say(response('c1', { fine: true }), response('c1', { fine: false }));

    expect(await call).toEqual({ status: 'ok', result: { fine: true } });
  });

  it('fails every call that waits with one reason when the channel ends, and every later one', async () => {
    const { client, sent, end } = connect();
    const calls = [client.call('a'), client.execute('process.exec', {})];
    end('gateway exited');

    const gone = { status: 'unreachable', reason: 'gateway exited' };
    expect(await Promise.all(calls)).toEqual([gone, gone]);
    expect(await client.call('c')).toEqual(gone);
    expect(sent).toHaveLength(2);
  });

  it('passes holding back and closing on', async () => {
    const { client, calls } = connect();
    client.pause();
    client.resume();
    await client.close();

    expect(calls).toEqual(['pause', 'resume', 'close']);
  });
});
