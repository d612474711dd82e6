import { describe, expect, it } from 'vitest';
import { type Daemon, memoryMiB, startDaemon, until } from './daemon.ts';

const SECRET = 'S3CR3T-abcdef';

function types(daemon: Daemon, operationId: string): string[] {
  return daemon.envelopes
    .filter(
      (envelope) =>
        envelope['operationId'] === operationId || envelope['result']?.operationId === operationId,
    )
    .map(({ type }) => type);
}

describe('burrow daemon over stdio', () => {
  it('answers hello', async () => {
    const daemon = startDaemon();

    expect(await daemon.ask('hello')).toEqual({
      type: 'response',
      requestId: 'auto-1',
      ok: true,
      result: {
        name: 'burrow-host-gateway',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        protocolVersion: '1.0',
        transport: 'stdio-jsonl',
      },
    });
  });

  it('answers health with what runs', async () => {
    const daemon = startDaemon();
    daemon.send({ id: 1, method: 'process.exec', params: { operationId: 'run', command: 'sleep 30' } });
    await daemon.waitFor('accepted', ({ type }) => type === 'accepted');

    expect((await daemon.ask('health')).result).toMatchObject({
      status: 'ok',
      activeOperations: ['run'],
      uptimeMs: expect.any(Number),
      journal: { mode: 'memory', state: 'ok', warnings: [] },
      telemetry: { enabled: false },
    });
  });

  it('sends accepted, streams, terminal and response in order, seq from 1', async () => {
    const daemon = startDaemon();
    const { result } = await daemon.exec({ operationId: 'o', command: 'echo out; sleep .05; echo err >&2' });

    const own = daemon.envelopes.filter(({ operationId }) => operationId === 'o');
    expect(types(daemon, 'o')).toEqual([
      'accepted',
      'process.stream',
      'process.stream',
      'process.terminal',
      'response',
    ]);
    expect(own[0]).toEqual({
      type: 'accepted',
      requestId: 'auto-1',
      ok: true,
      operationId: 'o',
      protocolVersion: '1.0',
    });
    expect(own[1]).toEqual({
      type: 'process.stream',
      operationId: 'o',
      stream: 'stdout',
      seq: 1,
      data: 'out\n',
      truncated: false,
    });
    expect(own.slice(1).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(result).toEqual({ operationId: 'o', replay: false, outcome: own[3]?.['evidence'] });
  });

  it.each([
    ['0', 0],
    ['""', ''],
    ['"0"', '0'],
    ['1.5', 1.5],
    ['false', false],
    ['null', null],
    ['"\\u0000\\u00e9"', '\0é'],
    ['"\\ud800"', '\ud800'],
  ])('gives the id %s back as it came', async (text, id) => {
    const daemon = startDaemon();
    daemon.send(`{"id":${text},"method":"health"}`, `{"id":${text},"method":"nope"}`);
    await daemon.waitFor('an error', ({ type }) => type === 'error');

    expect(daemon.envelopes.map(({ requestId }) => requestId)).toEqual([id, id]);
    expect(daemon.envelopes[1]).toMatchObject({ ok: false, error: { code: 'unknown_method' } });
  });

  it('gives the digits of a number back that no double can hold', async () => {
    const daemon = startDaemon();
    let text = '';
    daemon.child.stdout?.on('data', (chunk: Buffer) => (text += chunk));
    daemon.send('{"id":9007199254740993,"method":"health"}');
    await daemon.waitFor('an answer', () => true);

    expect(text).toContain('"requestId":9007199254740993,');
  });

  it.each([
    ['no id', '{"method":"health"}', { type: 'response', ok: true }],
    ['an object', '{"id":{},"method":"health"}', { type: 'error', error: { code: 'invalid_message' } }],
    ['an array', '{"id":[1],"method":"health"}', { type: 'error', error: { code: 'invalid_message' } }],
  ])('answers %s as id to null', async (_, line, answer) => {
    const daemon = startDaemon();
    daemon.send(line);

    expect(await daemon.waitFor('an answer', () => true)).toMatchObject({ requestId: null, ...answer });
  });

  it.each([
    ['cut off', '{"id":"bad","method":', 'bad', 'invalid_json'],
    ['not JSON', 'hello', null, 'invalid_json'],
    ['raw NUL', '{"id":"n","method":"hea\0lth"}', 'n', 'invalid_json'],
    ['a list', '[{"id":"a","method":"health"}]', null, 'invalid_message'],
    ['a number', '12', null, 'invalid_message'],
    ['no method', '{"id":"m"}', 'm', 'invalid_message'],
    ['method of a wrong type', '{"id":"m","method":1}', 'm', 'invalid_message'],
    ['params of a wrong type', '{"id":"p","method":"health","params":[]}', 'p', 'invalid_message'],
    ['a method of Object', '{"id":"c","method":"constructor"}', 'c', 'unknown_method'],
    ['a method named __proto__', '{"id":"c","method":"__proto__"}', 'c', 'unknown_method'],
    ['200,000 brackets', '['.repeat(200_000), null, 'invalid_json'],
    ['200,000 whole brackets', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, null, 'invalid_message'],
    ['protected values', exec({ command: 'true', protectedValues: { A: SECRET } }), 'x', PROTECTED],
    ['a protected binding', exec({ command: 'true', protectedDelivery: {} }), 'x', PROTECTED],
  ])('refuses %s as an envelope and serves the next line', async (_, line, requestId, code) => {
    const daemon = startDaemon();
    daemon.send(line);

    expect(await daemon.waitFor('an error', () => true)).toMatchObject({
      type: 'error',
      requestId,
      ok: false,
      error: { code, message: expect.stringMatching(/^[A-Z].*[^.]$/) },
    });
    expect(JSON.stringify(daemon.envelopes)).not.toContain(SECRET);
    expect(await daemon.ask('health')).toMatchObject({ ok: true });
    expect(daemon.stderr()).toBe('');
  });

  it.each([
    ['cancel', {}, 'invalid_params'],
    ['process.exec', { command: 'true', timeoutMs: 0 }, 'invalid_params'],
    ['process.exec', { command: 'true', operationId: 'x'.repeat(257) }, 'invalid_params'],
    ['process.exec', { command: 1 }, 'command_invalid'],
    ['process.exec', { executable: 'a\0' }, 'executable_invalid'],
    ['process.exec', { executable: 'echo', args: ['a\0b'] }, 'args_invalid'],
    ['process.exec', { command: 'a', executable: 'b' }, 'command_and_executable_mutually_exclusive'],
    ['process.exec', {}, 'command_or_executable_required'],
    ['process.exec', { command: 'true', args: ['a'] }, 'args_with_command_invalid'],
    ['process.exec', { command: 'true', env: { A: 'x\0y' } }, 'env_invalid'],
    ['process.exec', { command: 'true', env: { '': 'x' } }, 'env_invalid'],
    ['process.exec', { command: 'true', env: { 'a=b': 'x' } }, 'env_invalid'],
    ['process.exec', { command: 'true', env: { A: '\ud800' } }, 'env_invalid'],
    ['process.exec', { command: 'true', cwd: '/nope' }, 'cwd_invalid'],
    ['process.exec', { command: 'true', traceContext: { traceparent: 'x' } }, 'trace_context_invalid'],
    ['process.exec', { executable: '/nope' }, 'spawn_failed'],
    ['process.exec', { command: 'true', x: '\ud800' }, 'invalid_params'],
  ])('refuses %s %j with the response %s and starts nothing', async (method, params, code) => {
    const daemon = startDaemon();

    expect(await daemon.ask(method, params)).toMatchObject({
      type: 'response',
      ok: false,
      error: { code, message: expect.stringMatching(/^[A-Z].*[^.]$/s) },
    });
    expect((await daemon.ask('health')).result).toMatchObject({ activeOperations: [] });
    expect(daemon.envelopes).toHaveLength(2);
  });

  it('does not take a deeply nested parameter, and is not ended by it', async () => {
    const daemon = startDaemon();
    daemon.send(`{"id":"d","method":"health","params":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`);

    expect(await daemon.answer('d')).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
    expect(await daemon.ask('health')).toMatchObject({ ok: true });
  });

  it('skips a line of 50 MB, answers it and gives its memory back', async () => {
    const daemon = startDaemon();
    await daemon.ask('health');
    const beforeMiB = memoryMiB(daemon.pid);
    const part = 'x'.repeat(1_000_000);
    daemon.child.stdin?.write('{"id":"long","method":"health","params":{"a":"');
    for (let n = 0; n < 50; n += 1) daemon.child.stdin?.write(part);
    daemon.send('"}}');

    expect(await daemon.answer('long')).toMatchObject({ type: 'error', error: { code: 'frame_too_large' } });
    expect(await daemon.ask('health')).toMatchObject({ ok: true });
    await until('the memory is given back', () => memoryMiB(daemon.pid) < beforeMiB + 24);
  });

  it('takes the last of duplicate keys, and __proto__ as a name like any other', async () => {
    const daemon = startDaemon();
    daemon.send(
      '{"id":"a","id":"b","method":"nope","method":"process.exec","params":{"executable":"env","__proto__":{"command":"false"},"env":{"__proto__":"p","constructor":"c"}}}',
    );
    const { result } = await daemon.answer('b');

    expect(result.outcome).toMatchObject({ mode: 'exec', exitCode: 0 });
    expect(result.outcome.stdout.split('\n')).toEqual(
      expect.arrayContaining(['__proto__=p', 'constructor=c']),
    );
  });

  it('ignores blank lines and a carriage return, and reads a last line without a newline', async () => {
    const daemon = startDaemon();
    daemon.child.stdin?.end('\n \t\r\n\r\n{"id":1,"method":"hello"}\r\n\n{"id":2,"method":"hello"}');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(daemon.envelopes.map(({ requestId, ok }) => [requestId, ok])).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  it('tells two operations under one request id apart', async () => {
    const daemon = startDaemon();
    const request = (operationId: string) => ({
      id: 'same',
      method: 'process.exec',
      params: { operationId, command: `echo ${operationId}` },
    });
    daemon.send(request('a'), request('b'));
    for (const id of ['a', 'b'])
      await daemon.waitFor(id, ({ type, result }) => type === 'response' && result.operationId === id);

    for (const id of ['a', 'b'])
      expect(types(daemon, id)).toEqual(['accepted', 'process.stream', 'process.terminal', 'response']);
  });
});

const PROTECTED = 'protected_delivery_binding_invalid';

function exec(params: object): string {
  return JSON.stringify({ id: 'x', method: 'process.exec', params });
}
