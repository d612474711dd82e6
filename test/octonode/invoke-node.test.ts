import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeNode, invokeNode, type NodeCommand } from '../../src/octonode/octonode.ts';
import { isValidEnvelope, options, scripted } from './nodes.ts';

const directory = mkdtempSync(join(tmpdir(), 'octonode-'));
afterAll(() => rmSync(directory, { recursive: true }));

const OK = '{"octonode":"1","type":"result","invocationId":"%ID%","status":"ok","outputs":{"v":1}}';

/** The error of a call that must fail, and how long it took. */
async function failure(
  command: NodeCommand,
  more: Parameters<typeof invokeNode>[2] = options(),
  inputs: unknown = {},
) {
  const envelope = await invokeNode(command, inputs, more);
  expect(isValidEnvelope(envelope, 'invoke')).toBe(true);
  if (envelope.status === 'ok') throw new Error(`Answered ok: ${JSON.stringify(envelope)}`);
  const details = (envelope.error.details ?? {}) as Record<string, unknown>;
  return { ...envelope.error, details };
}

async function outputs(
  command: NodeCommand,
  more: Parameters<typeof invokeNode>[2] = options(),
  inputs: unknown = {},
) {
  const envelope = await invokeNode(command, inputs, more);
  if (envelope.status === 'error') throw new Error(JSON.stringify(envelope.error));
  return envelope.outputs;
}

describe('invokeNode()', () => {
  it('answers with the outputs and keeps unknown fields', async () => {
    const envelope = await invokeNode(
      scripted('read', `print:${OK.replace('"v":1', '"v":2').replace('}}', '},"extra":7}')}`),
      {},
      options(),
    );

    expect(envelope).toMatchObject({ status: 'ok', outputs: { v: 2 }, extra: 7 });
  });

  it.each([
    ['a newline', '\n'],
    ['no newline', ''],
    ['CR LF', '\r\n'],
    ['blanks', '  \t\r\n\n '],
  ])('takes an answer that ends in %s', async (_name, end) => {
    expect(await outputs(scripted('read', `print:${OK}${end}`))).toEqual({ v: 1 });
  });

  it.each([
    ['text before it', ['print:hi\n', 'answer'], /text before its answer: "hi"/, 'hi'],
    ['text on the same line before it', ['print:hi ', 'answer'], /text before its answer: "hi/, 'hi '],
    ['text after it', ['answer', 'print:bye\n'], /text after its answer: "bye"/, 'bye'],
    ['a second answer', ['answer', 'answer'], /more than once/, '"octonode"'],
    ['a byte order mark', ['print:\\xef\\xbb\\xbf', 'answer'], /byte order mark/, 'octonode'],
    ['NaN', [`print:${OK.replace('{"v":1}', 'NaN')}`], /NaN, which JSON does not have/, 'NaN'],
    ['UTF-16', ['print:\\xff\\xfe{\\x00}\\x00'], /UTF-16/, '{'],
    ['UTF-16 without a mark', ['print:{\\x00"\\x00'], /UTF-16/, '{'],
    ['bytes that are not UTF-8', [`print:${OK.replace('{"v":1}', '"\\xc3("')}`], /not UTF-8/, 'octonode'],
    ['another invocationId', [`print:${OK.replace('%ID%', 'other')}`], /wrong invocationId "other"/, 'other'],
    [
      'a number as invocationId',
      [`print:${OK.replace('"%ID%"', '7')}`],
      /wrong invocationId of type number/,
      '7',
    ],
    ['a manifest', [`print:${OK.replace('result', 'manifest')}`], /"manifest" where "result"/, 'manifest'],
    ['another protocol version', [`print:${OK.replace('"1"', '"2"')}`], /field "octonode"/, '"2"'],
    ['no outputs', [`print:${OK.replace(',"outputs":{"v":1}', '')}`], /outputs/, 'octonode'],
    [
      'an unknown error code',
      [`print:${OK.replace('"ok","outputs":{"v":1}', '"error","error":{"code":"OOPS","message":"m"}')}`],
      /error\.code/,
      'OOPS',
    ],
    ['JSON that is no envelope', ['print:[1]'], /no envelope/, '[1]'],
    ['no JSON', ['print:hello world'], /not JSON: "hello world"/, 'hello world'],
  ])('refuses %s', async (_name, steps, message, excerpt) => {
    const error = await failure(scripted('read', 'err:10', ...steps, 'exit:4'));

    expect(error).toMatchObject({
      code: 'RUNTIME_ERROR',
      retryable: false,
      details: { exitCode: 4, stderrTail: 'e'.repeat(10) },
    });
    expect(error.message).toMatch(message);
    expect(error.message).toContain('scripted.pl');
    expect(error.message).toContain('exit status 4');
    expect(String(error.details.excerpt)).toContain(excerpt);
  });

  it('quotes at most 500 characters, masked', async () => {
    const error = await failure(
      scripted('read', 'print:secret ', 'flood:65536'),
      options({ mask: (text) => text.replaceAll('secret', '***') }),
    );

    expect(String(error.details.excerpt)).toMatch(/^\*\*\* f/);
    expect(String(error.details.excerpt).length).toBeLessThanOrEqual(500);
  });

  it('rounds integers beyond the doubles and keeps lone surrogates', async () => {
    const text = OK.replace('{"v":1}', '{"n":12345678901234567890,"s":"\\\\ud800"}').replaceAll('\\\\', '\\');

    expect(await outputs(scripted('read', `print:${text}`))).toEqual({
      n: 12345678901234567000,
      s: '\ud800',
    });
  });

  it.each([
    ['exits at once', ['exit:0'], { exitCode: 0, signal: null }],
    ['exits with 3', ['read', 'exit:3'], { exitCode: 3, signal: null }],
    ['prints blanks only', ['read', 'print: \n\n', 'exit:1'], { exitCode: 1, signal: null }],
    ['is killed', ['read', 'kill:KILL'], { exitCode: null, signal: 'SIGKILL' }],
  ])('tells how a node ended that %s', async (_name, steps, details) => {
    const error = await failure(scripted('err:5000', ...steps));

    expect(error).toMatchObject({ code: 'RUNTIME_ERROR', details });
    expect(error.details.stderrTail).toBe('e'.repeat(4096));
  });

  it.each([
    ['the program does not exist', { file: '/nonexistent/node' }, 'ENOENT'],
    ['the program may not be executed', { file: '/etc/passwd' }, 'EACCES'],
    ['the arguments are too long', { file: 'true', args: ['x'.repeat(3_000_000)] }, 'E2BIG'],
    ['the directory does not exist', { file: 'true', cwd: '/nonexistent/directory' }, 'ENOENT'],
  ])(
    'is retryable when %s',
    async (_name, { file, args = [], cwd = '/' }: { file: string; args?: string[]; cwd?: string }, errno) => {
      expect(await failure([file, ...args], options({ cwd }))).toMatchObject({
        code: 'RUNTIME_ERROR',
        retryable: true,
        details: { errno },
      });
    },
  );

  it.each([
    ['sleeps', ['read', 'sleep:60000']],
    ['ignores SIGTERM', ['deaf', 'read', 'sleep:60000']],
    ['closed its pipes', ['read', 'close:0', 'close:2', 'sleep:60000']],
    ['left a grandchild', ['read', 'hold:60000', 'sleep:60000']],
    ['gives half an answer', ['read', 'print:{"octonode":', 'sleep:60000']],
  ])('times out a node that %s, within a second and a half', async (_name, steps) => {
    const startedAt = performance.now();
    const error = await failure(scripted(...steps), { ...options(), timeoutMs: 200 });

    expect(error).toMatchObject({ code: 'TIMEOUT', retryable: true });
    expect(performance.now() - startedAt).toBeLessThan(200 + 1_500);
  });

  it('bounds the call by the deadline of its context', async () => {
    const context = { deadlineMs: Date.now() + 100 };

    expect(await failure(scripted('read', 'sleep:60000'), { ...options(), context })).toMatchObject({
      code: 'TIMEOUT',
    });
  });

  it.each([
    ['sleeps', ['read', 'answer', 'sleep:60000'], /did not end/],
    ['sleeps and wrote no newline', ['read', `print:${OK}`, 'sleep:60000'], /did not end/],
    ['closes stdout and sleeps', ['read', 'answer', 'close:1', 'close:2', 'sleep:60000'], /did not end/],
    ['leaves stdout to a grandchild', ['read', 'hold:60000', 'answer'], /did not end/],
    ['exits with 3', ['read', 'answer', 'exit:3'], /exit status 3/],
    ['is killed', ['read', 'answer', 'kill:KILL'], /ended by SIGKILL/],
  ])('lets the answer stand of a node that then %s, and warns', async (_name, steps, warning) => {
    const warnings: string[] = [];
    const startedAt = performance.now();
    const value = await outputs(
      scripted(...steps),
      options({ onWarning: (sentence) => warnings.push(sentence) }),
    );

    expect(value).toEqual({ v: 1 });
    expect(warnings.join()).toMatch(warning);
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });

  it('ends what a node leaves in the background', async () => {
    expect(await outputs(scripted('read', 'quiet:60000', 'answer'))).toEqual({ v: 1 });
  });

  it('takes an error with a bad exit status as the node’s own', async () => {
    const error = '"error","error":{"code":"NON_RETRYABLE","message":"no","details":{"why":1}}';
    const node = scripted('read', `print:${OK.replace('"ok","outputs":{"v":1}', error)}`, 'exit:9');

    expect(await failure(node)).toMatchObject({
      code: 'NON_RETRYABLE',
      message: 'no',
      retryable: false,
      details: { why: 1 },
    });
  });

  it('takes an answer that was given without reading an 8 MB request', async () => {
    const answer = OK.replace('%ID%', 'known');

    expect(
      await outputs(
        scripted(`print:${answer}`, 'close:0'),
        { ...options(), invocationId: 'known' },
        'x'.repeat(8e6),
      ),
    ).toEqual({ v: 1 });
  });

  it.each([
    ['exits without reading', ['exit:0'], 'RUNTIME_ERROR'],
    ['closes its stdin and sleeps', ['close:0', 'sleep:60000'], 'TIMEOUT'],
  ])('survives a node that %s with an 8 MB request', async (_name, steps, code) => {
    expect(
      await failure(scripted(...steps), { ...options(), timeoutMs: 1_000 }, 'x'.repeat(8e6)),
    ).toMatchObject({ code });
  });

  it('does not deadlock with a node that writes 5 MiB before it reads 5 MiB', async () => {
    const answer = `print:{"octonode":"1","type":"result","invocationId":"a","status":"ok","outputs":"`;
    const node = scripted('err:1000000', answer, `flood:${5 * 1024 * 1024}`, 'print:"}', 'read');

    expect(
      await outputs(node, { ...options(), invocationId: 'a' }, 'x'.repeat(5 * 1024 * 1024)),
    ).toHaveLength(5 * 1024 * 1024);
  });

  it('passes stderr on live, a megabyte of it', async () => {
    let sizeBytes = 0;
    const node = scripted('err:1048576', 'read', 'answer');

    expect(
      await outputs(
        node,
        options({
          onStderr: (chunk) => {
            sizeBytes += chunk.length;
          },
        }),
      ),
    ).toEqual({
      v: 1,
    });
    expect(sizeBytes).toBe(1_048_576);
  });

  it('ends a node that floods, with bounded memory', async () => {
    const error = await failure(scripted('read', `flood:${64 * 1024 * 1024}`, 'answer'));

    expect(error).toMatchObject({ code: 'RUNTIME_ERROR', retryable: false });
    expect(error.message).toContain('16777216 bytes');
  });

  it('carries any invocationId', async () => {
    const envelope = await invokeNode(
      scripted('read', 'answer'),
      {},
      { ...options(), invocationId: '__proto__' },
    );

    expect(envelope).toMatchObject({ status: 'ok', invocationId: '__proto__' });
  });

  it.each([
    [
      'a cycle',
      () => {
        const value: Record<string, unknown> = {};
        value.self = value;
        return value;
      },
    ],
    ['a BigInt', () => 1n],
  ])('refuses inputs with %s', async (_name, inputs) => {
    expect(await failure(scripted('read', 'answer'), options(), inputs())).toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });

  it.each([
    ['inputs', { inputs: { required: ['name'] } }, /Inputs.*name/],
    ['outputs', { outputs: { properties: { v: { type: 'string' } } } }, /Outputs.*\/v/],
    ['inputs by a schema that cannot be used', { inputs: { type: 'strin' } }, /schema itself/],
  ])('refuses %s that break the manifest', async (_name, schemas, message) => {
    const manifest = { id: 'x', language: 'perl', ...schemas };
    const error = await failure(scripted('read', 'answer'), { ...options(), manifest });

    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', retryable: false });
    expect(error.message).toMatch(message);
    expect(error.details.errors).toEqual([{ path: expect.any(String), message: expect.any(String) }]);
  });

  it('ends the process when the caller gives up', async () => {
    const controller = new AbortController();
    const envelope = failure(scripted('read', 'sleep:60000'), { ...options(), signal: controller.signal });
    controller.abort();

    expect(await envelope).toMatchObject({
      code: 'RUNTIME_ERROR',
      retryable: false,
      details: { cancelled: true },
    });
  });

  it('runs a script that is not executable by its errno, not by a throw', async () => {
    const file = join(directory, 'plain.sh');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });

    expect(await failure([file])).toMatchObject({ details: { errno: 'EACCES' } });
  });
});

describe('describeNode()', () => {
  it('answers with the manifest', async () => {
    const manifest =
      '{"octonode":"1","type":"manifest","invocationId":"%ID%","status":"ok","manifest":{"id":"a","language":"perl","x":1}}';

    expect(await describeNode(scripted('read', `print:${manifest}`), options())).toMatchObject({
      status: 'ok',
      manifest: { id: 'a', x: 1 },
    });
  });

  it.each([
    [
      'prints on import',
      ['print:banner\n', 'read', `print:${OK.replace('result', 'manifest')}`],
      /text before its answer: "banner"/,
    ],
    ['answers with a result', ['read', 'answer'], /"result" where "manifest"/],
    [
      'has a symbol that is too long',
      [
        'read',
        `print:${OK.replace('result', 'manifest').replace('"outputs":{"v":1}', `"manifest":{"id":"a","language":"b","symbol":"${'s'.repeat(17)}"}`)}`,
      ],
      /manifest\.symbol/,
    ],
  ])('refuses a node that %s', async (_name, steps, message) => {
    const envelope = await describeNode(scripted(...steps), options());

    expect(isValidEnvelope(envelope, 'describe')).toBe(true);
    expect(envelope).toMatchObject({
      type: 'manifest',
      status: 'error',
      error: { code: 'RUNTIME_ERROR', message: expect.stringMatching(message) },
    });
  });
});
