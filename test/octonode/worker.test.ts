import { afterEach, describe, expect, it } from 'vitest';
import {
  createNodeWorker,
  type NodeWorker,
  type ResultEnvelope,
  type WorkerOptions,
} from '../../src/octonode/octonode.ts';
import { isValidEnvelope, NODES, options, scripted, until } from './nodes.ts';

const OK = '{"octonode":"1","type":"result","invocationId":"%ID%","status":"ok","outputs":{"v":1}}';
const ECHO = ['python3', `${NODES}echo.py`] as const;
const workers: NodeWorker[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
});

function open(command: readonly [string, ...string[]], more: Partial<WorkerOptions> = {}): NodeWorker {
  const worker = createNodeWorker(command, { ...options(), ...more });
  workers.push(worker);
  return worker;
}

function errorOf(envelope: ResultEnvelope | undefined): {
  code: string;
  message: string;
  retryable: boolean;
  details?: unknown;
} {
  expect(isValidEnvelope(envelope, 'invoke')).toBe(true);
  if (envelope?.status !== 'error') throw new Error(`Not an error: ${JSON.stringify(envelope)}`);
  return envelope.error;
}

describe('createNodeWorker()', () => {
  it('serves many calls with one process', async () => {
    const worker = open(ECHO);

    const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => worker.invoke({ index })));

    expect(answers.map((answer) => answer.status === 'ok' && answer.outputs)).toEqual(
      Array.from({ length: 500 }, (_, index) => ({ index })),
    );
    expect(worker.status()).toMatchObject({ state: 'running', starts: 1, inFlight: 0, queued: 0 });
  });

  it('gives each caller its own answer when they come out of order', async () => {
    const worker = open(ECHO, { concurrency: 8 });

    // echo.py holds back what carries `later` until the next request came.
    const [first, second] = await Promise.all([worker.invoke({ later: true }), worker.invoke({ now: 1 })]);

    expect(first).toMatchObject({ outputs: { later: true } });
    expect(second).toMatchObject({ outputs: { now: 1 } });
  });

  it('keeps at most `concurrency` calls in flight', async () => {
    const worker = open(scripted('read', 'sleep:50', 'answer', 'loop'), { concurrency: 2 });
    const calls = [1, 2, 3, 4].map(() => worker.invoke({}));
    await until(() => worker.status().inFlight > 0);

    expect(worker.status()).toMatchObject({ inFlight: 2, queued: 2 });
    await Promise.all(calls);
  });

  it('refuses a call over the bound of its queue, retryable', async () => {
    const worker = open(scripted('read', 'sleep:100', 'answer', 'loop'), { concurrency: 1, maxQueued: 1 });

    const answers = await Promise.all([worker.invoke(1), worker.invoke(2), worker.invoke(3)]);

    expect(answers.map(({ status }) => status)).toEqual(['ok', 'ok', 'error']);
    expect(errorOf(answers[2])).toMatchObject({ code: 'RUNTIME_ERROR', retryable: true });
  });

  it.each([['__proto__'], ['constructor'], ['ü "\\ \u2028']])(
    'carries the invocationId %s',
    async (invocationId) => {
      expect(await open(ECHO).invoke(7, { invocationId })).toMatchObject({
        status: 'ok',
        outputs: 7,
        invocationId,
      });
    },
  );

  it('refuses an invocationId that is in flight', async () => {
    const worker = open(scripted('read', 'sleep:100', 'answer', 'loop'));
    const [first, second] = await Promise.all([
      worker.invoke(1, { invocationId: 'a' }),
      worker.invoke(2, { invocationId: 'a' }),
    ]);

    expect(first.status).toBe('ok');
    expect(errorOf(second).message).toContain('in use');
  });

  it.each([
    ['exits with 0', 'exit:0', { exitCode: 0, signal: null }],
    ['exits with 1', 'exit:1', { exitCode: 1, signal: null }],
    ['is killed', 'kill:KILL', { exitCode: null, signal: 'SIGKILL' }],
  ])(
    'fails all three calls in flight when the worker %s, retryable, and starts another',
    async (_name, step, details) => {
      const worker = open(scripted('read', 'answer', 'read', 'read', 'read', 'err:3', step));
      await worker.invoke(0);

      const answers = await Promise.all([worker.invoke(1), worker.invoke(2), worker.invoke(3)]);

      for (const answer of answers) {
        expect(errorOf(answer)).toMatchObject({
          code: 'RUNTIME_ERROR',
          retryable: true,
          details: { ...details, stderrTail: 'eee' },
        });
      }
      expect(await worker.invoke(4)).toMatchObject({ status: 'ok' });
      expect(worker.status()).toMatchObject({ starts: 2, quickDeaths: 0 });
    },
  );

  it('fails the calls in flight although a grandchild holds the pipes', async () => {
    const worker = open(scripted('read', 'hold:60000', 'exit:1'));
    const startedAt = performance.now();

    expect(errorOf(await worker.invoke(1))).toMatchObject({ retryable: true, details: { exitCode: 1 } });
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });

  it.each([
    ['dies at start', scripted('exit:7'), { exitCode: 7, breaker: 'open', deaths: 5 }],
    ['cannot be started', ['/nonexistent/node'] as const, { errno: 'ENOENT', breaker: 'open', deaths: 5 }],
    ['greets on stdout', scripted('print:hello\n', 'read', 'answer', 'loop'), { breaker: 'open', deaths: 5 }],
  ])('is given up after five quick deaths when the worker %s', async (_name, command, details) => {
    const worker = open(command);
    for (let death = 1; death <= 5; death += 1) {
      expect(errorOf(await worker.invoke(death)).code).toBe('RUNTIME_ERROR');
      expect(worker.status().quickDeaths).toBe(death);
    }

    const error = errorOf(await worker.invoke(6));

    expect(error).toMatchObject({ code: 'RUNTIME_ERROR', retryable: false, details });
    expect(error.message).toContain('given up after 5 quick deaths');
    expect(worker.status()).toMatchObject({ state: 'given_up', starts: 5 });
  });

  it('waits longer after each quick death, and the queue waits with it', async () => {
    const worker = open(scripted('exit:7'), { concurrency: 1 });
    const startedAt = performance.now();

    const answers = await Promise.all(Array.from({ length: 7 }, (_, index) => worker.invoke(index)));

    // 50 + 100 + 200 + 400 ms lie between the five starts.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(745);
    expect(answers.map((answer) => errorOf(answer).retryable)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('times out a call alone, kills the worker, and fails the others in flight, retryable', async () => {
    const worker = open(scripted('read', 'answer', 'read', 'sleep:60000'), { concurrency: 2 });
    await worker.invoke(0);

    const [late, other, queued] = await Promise.all([
      worker.invoke(1, { timeoutMs: 150 }),
      worker.invoke(2),
      worker.invoke(3),
    ]);

    expect(errorOf(late)).toMatchObject({ code: 'TIMEOUT', retryable: true });
    expect(errorOf(other)).toMatchObject({ code: 'RUNTIME_ERROR', retryable: true });
    expect(queued).toMatchObject({ status: 'ok' });
    expect(worker.status().starts).toBe(2);
  });

  it('times out a call in the queue without touching the worker', async () => {
    const worker = open(scripted('read', 'sleep:300', 'answer', 'loop'), { concurrency: 1 });

    const [first, second] = await Promise.all([worker.invoke(1), worker.invoke(2, { timeoutMs: 50 })]);

    expect(first.status).toBe('ok');
    expect(errorOf(second).code).toBe('TIMEOUT');
    expect(worker.status().starts).toBe(1);
  });

  it('drops and counts a late answer', async () => {
    const worker = open(scripted('deaf', 'read', 'sleep:300', 'answer', 'loop'));

    expect(errorOf(await worker.invoke(1, { timeoutMs: 100 })).code).toBe('TIMEOUT');
    await until(() => worker.status().lateAnswers === 1);

    expect(await worker.invoke(2)).toMatchObject({ status: 'ok' });
  });

  it('gives up on the answer of a cancelled call and keeps the worker', async () => {
    const worker = open(scripted('read', 'sleep:150', 'answer', 'loop'));
    const controller = new AbortController();
    const cancelled = worker.invoke(1, { signal: controller.signal });
    const next = worker.invoke(2);
    await until(() => worker.status().inFlight === 2);
    controller.abort();

    expect(errorOf(await cancelled)).toMatchObject({
      code: 'RUNTIME_ERROR',
      retryable: false,
      details: { cancelled: true },
    });
    expect(await next).toMatchObject({ status: 'ok' });
    expect(worker.status()).toMatchObject({ starts: 1, lateAnswers: 1 });
  });

  it.each([
    [
      'an unknown invocationId',
      `print:${OK.replace('%ID%', 'stranger')}\n`,
      /unknown or repeated invocationId "stranger"/,
    ],
    ['no invocationId', 'print:{"octonode":"1"}\n', /no invocationId/],
    ['a stray line', 'print:hello\n', /not JSON: "hello"/],
    ['NaN', `print:${OK.replace('{"v":1}', 'NaN')}\n`, /NaN/],
    ['bytes that are not UTF-8', `print:${OK.replace('{"v":1}', '"\\xc3("')}\n`, /not UTF-8/],
    ['a malformed envelope', `print:${OK.replace('"ok"', '"fine"')}\n`, /status/],
  ])('ends a worker that answers with %s', async (_name, step, message) => {
    const worker = open(scripted('read', 'answer', 'read', step, 'sleep:60000'));
    await worker.invoke(0);

    const error = errorOf(await worker.invoke(1));

    expect(error).toMatchObject({ code: 'RUNTIME_ERROR', retryable: false });
    expect(error.message).toMatch(message);
    expect(await worker.invoke(2)).toMatchObject({ status: 'ok' });
  });

  it('ends a worker that answers twice', async () => {
    const worker = open(scripted('read', 'answer', 'answer', 'loop'));

    expect(await worker.invoke(1)).toMatchObject({ status: 'ok' });
    await until(() => worker.status().state === 'idle');

    expect(await worker.invoke(2)).toMatchObject({ status: 'ok' });
    expect(worker.status().starts).toBe(2);
  });

  it('ends a worker whose answer is over the limit, with bounded memory', async () => {
    const worker = open(scripted('read', `flood:${64 * 1024 * 1024}`, 'print:\n', 'loop'));

    expect(errorOf(await worker.invoke(1)).message).toContain('16777216 bytes');
  });

  it('takes CR LF, blank lines, and a last line without a newline', async () => {
    const worker = open(scripted('read', `print:\r\n${OK}\r\n \n`, 'read', `print:${OK}`));

    expect(await Promise.all([worker.invoke(1), worker.invoke(2)])).toMatchObject([
      { status: 'ok' },
      { status: 'ok' },
    ]);
  });

  it('stops an idle worker and starts it again', async () => {
    const worker = open(ECHO, { idleMs: 50 });
    await worker.invoke(1);
    await until(() => worker.status().state === 'idle');

    expect(await worker.invoke(2)).toMatchObject({ status: 'ok' });
    expect(worker.status().starts).toBe(2);
  });

  it('drains on close, refuses new calls, and may be closed twice', async () => {
    const worker = open(scripted('read', 'sleep:100', 'answer', 'loop'), { concurrency: 1 });
    const calls = [worker.invoke(1), worker.invoke(2)];
    const closed = [worker.close(), worker.close()];

    expect(errorOf(await worker.invoke(3)).message).toContain('closed');
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(['ok', 'ok']);
    await Promise.all(closed);
    expect(worker.status()).toMatchObject({ state: 'closed', pid: undefined });
  });

  it('kills on close what does not end with its input', async () => {
    const worker = open(scripted('deaf', 'read', 'answer', 'sleep:60000'));
    await worker.invoke(1);
    const startedAt = performance.now();

    await worker.close();

    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});
