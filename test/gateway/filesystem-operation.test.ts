import { describe, expect, it } from 'vitest';
import { MAX_RUNNING_TOOLS } from '../../src/gateway/filesystem-operation.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { openJournal } from '../../src/gateway/journal/journal.ts';
import { frameText } from '../../src/protocol/envelopes.ts';
import { sealFileOutcome } from '../../src/protocol/file-outcome.ts';
import { systemClock } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { noTelemetry } from '../telemetry/no-telemetry.ts';

type Json = Record<string, unknown>;
interface Wire {
  type: string;
  ok: boolean;
  operationId?: string;
  error?: { code: string };
  result?: { operationId: string; replay: boolean; outcome?: Json };
}

type RunTool = (tool: string, signal: AbortSignal) => Promise<string>;

function outcomeJson(fields: Json): string {
  const common = { error: null, warnings: [], artifacts: null, durationMs: 1 };
  return sealFileOutcome({ tool: 'files_list', ok: true, ...common, ...fields }).json;
}

const answersAtOnce: RunTool = async (tool) => outcomeJson({ tool, dirPath: '/d', entries: [] });

/** Ends when it is aborted, as every tool does, or when `release` is called. */
function createWaitingTools(): { run: RunTool; started: () => number; release: () => void } {
  const ends: (() => void)[] = [];
  return {
    run: (tool, signal) =>
      new Promise((resolve) => {
        const end = (error: string | null): void => resolve(outcomeJson({ tool, ok: error === null, error }));
        if (signal.aborted) return end('cancelled');
        signal.addEventListener('abort', () => end('cancelled'));
        ends.push(() => end(null));
      }),
    started: () => ends.length,
    release: () => {
      for (const end of ends) end();
    },
  };
}

async function startGateway(run: RunTool = answersAtOnce, maxFrameBytes = 64 * 1024) {
  const journal = await openJournal({ location: { kind: 'memory' } }, { clock: systemClock, log: silentLog });
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
      startProcess: () => {
        throw new Error('No process is started here');
      },
      runFilesystemTool: ({ tool }, signal) => run(tool, signal),
    },
    { maxActiveOperations: 100, onShutdownRequest: () => {} },
  );
  const connect = (frameBytes = maxFrameBytes) => {
    const frames: Wire[] = [];
    const session = gateway.connect({
      transport: 'stdio-jsonl',
      maxFrameBytes: frameBytes,
      send(frame) {
        const text = frameText(frame);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(frameBytes);
        frames.push(JSON.parse(text));
      },
    });
    const send = (method: string, params: Json): void =>
      session.receive(Buffer.from(JSON.stringify({ id: `r${frames.length}`, method, params })));
    const execute = (params: Json): void => send('filesystem.execute', { tool: 'files_list', ...params });
    return { frames, session, send, execute, idle: () => session.idle() };
  };
  return { gateway, connect, ...connect() };
}

describe('filesystem.execute', () => {
  it('is accepted, then answered, with nothing between', async () => {
    const { execute, frames, idle } = await startGateway();

    execute({ operationId: 'a' });
    await idle();

    expect(frames).toEqual([
      { type: 'accepted', requestId: 'r0', ok: true, operationId: 'a', protocolVersion: '1.0' },
      {
        type: 'response',
        requestId: 'r0',
        ok: true,
        result: { operationId: 'a', replay: false, outcome: expect.objectContaining({ ok: true }) },
      },
    ]);
  });

  it('is replayed for the same request, also when only the trace differs', async () => {
    let runs = 0;
    const { execute, frames, idle } = await startGateway((tool, signal) => {
      runs += 1;
      return answersAtOnce(tool, signal);
    });
    execute({ operationId: 'a' });
    await idle();

    execute({
      operationId: 'a',
      traceContext: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    });
    await expect.poll(() => frames.length).toBe(3);

    expect(frames[2]?.result).toEqual({ ...frames[1]?.result, replay: true });
    expect(runs).toBe(1);
  });

  it('derives one id for one request, another for other arguments', async () => {
    const { execute, frames, idle } = await startGateway();

    execute({ arguments: { dirPath: '/d' } });
    await idle();
    execute({ arguments: { dirPath: '/d' } });
    execute({ arguments: { dirPath: '/e' } });
    await idle();
    await expect.poll(() => frames.length).toBe(5);

    const accepted = frames.filter((frame) => frame.type === 'accepted');
    expect(accepted[0]?.operationId).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(accepted.map((frame) => frame.operationId)).size).toBe(2);
    expect(frames.filter((frame) => frame.result?.replay === true)).toHaveLength(1);
  });

  it('refuses an id in use by another request, and one that still runs', async () => {
    const tools = createWaitingTools();
    const { execute, frames, idle } = await startGateway(tools.run);
    execute({ operationId: 'a' });

    execute({ operationId: 'a' });
    execute({ operationId: 'a', tool: 'files_find' });
    await expect.poll(tools.started).toBe(1);
    tools.release();
    await idle();
    execute({ operationId: 'a', tool: 'files_find' });

    expect(frames.map((frame) => frame.error?.code)).toEqual([
      undefined,
      'operation_in_progress',
      'operation_id_conflict',
      undefined,
      'operation_id_conflict',
    ]);
  });

  it.each([
    ['a tool that is no string', { tool: 7 }, 'response', 'invalid_params'],
    ['no tool', { tool: undefined }, 'response', 'invalid_params'],
    ['an operation id that is no string', { operationId: 7 }, 'response', 'invalid_params'],
    ['a bad trace', { traceContext: { traceparent: 'x' } }, 'response', 'trace_context_invalid'],
    ['protected values', { protectedValues: {} }, 'error', 'protected_delivery_binding_invalid'],
    ['a delivery', { protectedDelivery: {} }, 'error', 'protected_delivery_binding_invalid'],
  ])('refuses %s before anything starts', async (_name, params, type, code) => {
    const { execute, frames, idle } = await startGateway();

    execute(params);
    await idle();

    expect(frames).toMatchObject([{ type, ok: false, error: { code } }]);
  });

  it('answers a cancel with an outcome, which is kept and replayed', async () => {
    const tools = createWaitingTools();
    const { execute, send, frames, idle } = await startGateway(tools.run);
    execute({ operationId: 'a' });
    await expect.poll(tools.started).toBe(1);

    send('cancel', { operationId: 'a' });
    await idle();
    execute({ operationId: 'a' });
    await expect.poll(() => frames.length).toBe(4);

    expect(frames[1]?.result).toEqual({ operationId: 'a', cancelling: true });
    expect(frames[2]?.result).toMatchObject({ replay: false, outcome: { ok: false, error: 'cancelled' } });
    expect(frames[3]?.result).toMatchObject({ replay: true, outcome: { ok: false, error: 'cancelled' } });
  });

  it('ends a stop with every operation cancelled and answered', async () => {
    const tools = createWaitingTools();
    const { execute, gateway, frames } = await startGateway(tools.run);
    for (let count = 0; count < MAX_RUNNING_TOOLS + 5; count += 1) execute({ operationId: `op-${count}` });
    await expect.poll(tools.started).toBe(MAX_RUNNING_TOOLS);

    await gateway.stop();
    execute({ operationId: 'late' });

    const answers = frames.filter((frame) => frame.type === 'response');
    expect(answers).toHaveLength(MAX_RUNNING_TOOLS + 6);
    expect(answers.filter((frame) => frame.result?.outcome?.error === 'cancelled')).toHaveLength(
      MAX_RUNNING_TOOLS + 5,
    );
    expect(answers.at(-1)?.error?.code).toBe('stopping');
  });

  it('lets the tools beyond the limit wait, not their cancel', async () => {
    const tools = createWaitingTools();
    const { execute, send, frames, idle } = await startGateway(tools.run);
    for (let count = 0; count <= MAX_RUNNING_TOOLS; count += 1) execute({ operationId: `op-${count}` });
    await expect.poll(tools.started).toBe(MAX_RUNNING_TOOLS);

    send('cancel', { operationId: `op-${MAX_RUNNING_TOOLS}` });
    await expect.poll(() => frames.at(-1)?.result?.outcome?.error).toBe('cancelled');
    execute({ operationId: 'next' });
    tools.release();
    await expect.poll(tools.started).toBe(MAX_RUNNING_TOOLS + 1);
    tools.release();
    await idle();

    expect(frames.at(-1)?.result).toMatchObject({ operationId: 'next', outcome: { ok: true } });
  });

  it('starts nothing new for a peer that does not read', async () => {
    const tools = createWaitingTools();
    const { execute, session, connect, idle } = await startGateway(tools.run);
    session.setSaturated(true);
    execute({ operationId: 'held' });
    const other = connect();
    other.execute({ operationId: 'other' });
    await expect.poll(tools.started).toBe(1);

    session.setSaturated(false);
    await expect.poll(tools.started).toBe(2);

    tools.release();
    await Promise.all([idle(), other.idle()]);
  });

  it('answers a list that fits no frame with an outcome that says so', async () => {
    const entries = Array.from({ length: 4_000 }, (_, index) => ({ path: `file-${index}`, type: 'file' }));
    const { execute, frames, idle } = await startGateway(async () => outcomeJson({ dirPath: '/d', entries }));

    execute({ operationId: 'a' });
    await idle();

    const outcome = frames[1]?.result?.outcome;
    expect(outcome).toMatchObject({
      tool: 'files_list',
      ok: false,
      dirPath: '/d',
      error: 'output_frame_too_large',
      diagnostic: { code: 'output_frame_too_large' },
      warnings: [],
    });
    expect(outcome).not.toHaveProperty('entries');
  });

  it('checks a replay against the frame of its own connection', async () => {
    const entries = Array.from({ length: 400 }, (_, index) => ({ path: `file-${index}`, type: 'file' }));
    const { execute, connect, idle } = await startGateway(async () =>
      outcomeJson({ dirPath: '/d', entries }),
    );
    execute({ operationId: 'a' });
    await idle();

    const narrow = connect(4 * 1024);
    narrow.execute({ operationId: 'a' });
    await expect.poll(() => narrow.frames.length).toBe(1);

    expect(narrow.frames[0]).toMatchObject({
      ok: true,
      result: { replay: true, outcome: { ok: false, error: 'output_frame_too_large' } },
    });
  });

  it('shortens the content of a read, with every flag', async () => {
    const fields = { tool: 'files_read', encoding: 'utf8', nextOffsetBytes: 9, content: '€'.repeat(50_000) };
    const { execute, frames, idle } = await startGateway(async () => outcomeJson(fields));

    execute({ operationId: 'a' });
    await idle();

    const outcome = frames[1]?.result?.outcome;
    expect(outcome).toMatchObject({
      ok: true,
      truncated: true,
      transportTruncated: true,
      incomplete: true,
      nextOffsetBytes: null,
      returnedBytes: Buffer.byteLength(String(outcome?.content)),
    });
    expect(outcome?.content).toMatch(/^€{20000,}$/);
    expect(outcome).not.toHaveProperty('resultFingerprint');
  });

  it('answers even a tool that breaks its promise, and keeps nothing', async () => {
    let runs = 0;
    const { execute, frames, idle } = await startGateway(() => {
      runs += 1;
      return Promise.reject(new Error('Broken'));
    });

    execute({ operationId: 'a' });
    await idle();
    execute({ operationId: 'a' });
    await idle();

    expect(frames[1]).toMatchObject({ ok: false, error: { code: 'internal_error', operationId: 'a' } });
    expect(runs).toBe(2);
  });
});
