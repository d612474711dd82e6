import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { startDaemon } from './daemon.ts';

const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };

function digestOf(params: object): string {
  const text = canonicalize({ method: 'process.exec', params }) ?? '';
  return createHash('sha256').update(text).digest('hex');
}

describe('an operation id', () => {
  it('is derived from the request alone, without id, trace context and key order', async () => {
    const daemon = startDaemon();
    const params = { command: 'echo $RANDOM', env: { B: 1, A: 'é' } };
    const first = await daemon.exec(params);
    const second = await daemon.exec({ env: { A: 'é', B: 1 }, command: 'echo $RANDOM', traceContext: TRACE });

    expect(first.result).toMatchObject({ operationId: digestOf(params), replay: false });
    expect(second.result).toEqual({ ...first.result, replay: true });
  });

  it.each([null, ''])('is derived when it is %j', async (operationId) => {
    const { result } = await startDaemon().exec({ operationId, command: 'true' });

    expect(result.operationId).toBe(digestOf({ command: 'true' }));
  });

  it('replays a completed request, with nothing but its response', async () => {
    const daemon = startDaemon();
    const first = await daemon.exec({ operationId: 'r', command: 'echo out' });
    const sent = daemon.envelopes.length;
    const second = await daemon.exec({ operationId: 'r', command: 'echo out' });

    expect(second.result).toEqual({ operationId: 'r', replay: true, outcome: first.result.outcome });
    expect(daemon.envelopes).toHaveLength(sent + 1);
  });

  it('counts parameters that the gateway ignores', async () => {
    const daemon = startDaemon();
    await daemon.exec({ operationId: 'c', command: 'true', toolCallId: 1 });

    expect(await daemon.exec({ operationId: 'c', command: 'true', toolCallId: 2 })).toMatchObject({
      type: 'response',
      error: { code: 'operation_id_conflict', operationId: 'c' },
    });
  });

  it('is in progress or in conflict while it runs', async () => {
    const daemon = startDaemon();
    const params = { operationId: 'p', command: 'sleep 30' };
    daemon.send({ id: 1, method: 'process.exec', params });
    await daemon.waitFor('accepted', ({ type }) => type === 'accepted');

    expect(await daemon.exec(params)).toMatchObject({
      type: 'response',
      error: { code: 'operation_in_progress', operationId: 'p', retryable: true },
    });
    expect(await daemon.exec({ ...params, command: 'true' })).toMatchObject({
      type: 'response',
      error: { code: 'operation_id_conflict', operationId: 'p' },
    });
  });

  it('runs again after a start that failed: nothing was journalled', async () => {
    const daemon = startDaemon();
    const params = { operationId: 'f', executable: '/nope' };

    expect((await daemon.exec(params)).error).toMatchObject({ code: 'spawn_failed', errno: 'ENOENT' });
    expect((await daemon.exec(params)).error).toMatchObject({ code: 'spawn_failed', errno: 'ENOENT' });
    expect((await daemon.exec({ operationId: 'f', command: 'true' })).result).toMatchObject({
      replay: false,
    });
  });

  it('that is completed is not taken with protected values', async () => {
    const daemon = startDaemon();
    await daemon.exec({ operationId: 's', command: 'true' });
    const answer = await daemon.exec({ operationId: 's', command: 'true', protectedValues: { A: 'hidden' } });

    expect(answer.ok).toBe(false);
    expect(JSON.stringify(daemon.envelopes)).not.toContain('hidden');
  });

  it('is refused beyond --max-operations, and taken again when one has ended', async () => {
    const daemon = startDaemon({ args: ['--max-operations', '2'] });
    for (const operationId of ['a', 'b'])
      daemon.send({ id: operationId, method: 'process.exec', params: { operationId, command: 'sleep 30' } });

    expect(await daemon.exec({ operationId: 'c', command: 'true' })).toMatchObject({
      type: 'response',
      error: { code: 'too_many_operations', operationId: 'c', retryable: true },
    });
    expect((await daemon.ask('cancel', { operationId: 'a' })).result).toEqual({
      operationId: 'a',
      cancelling: true,
    });
    expect((await daemon.answer('a')).result.outcome).toMatchObject({ cancelled: true, killed: true });
    expect(await daemon.exec({ operationId: 'c', command: 'true' })).toMatchObject({ ok: true });
  });

  it('that does not run is not cancelled', async () => {
    expect((await startDaemon().ask('cancel', { operationId: 'nope' })).result).toEqual({
      operationId: 'nope',
      cancelling: false,
    });
  });
});
