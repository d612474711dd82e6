import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExecParams, parseExecParams } from '../../src/protocol/exec-params.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function parse(params: Record<string, unknown>): ExecParams {
  const parsed = parseExecParams(params);
  if (parsed.status === 'invalid') throw new Error(parsed.error.message);
  return parsed.value;
}

function refused(params: Record<string, unknown>): { code: string; paths: string[] } {
  const parsed = parseExecParams(params);
  if (parsed.status === 'ok') throw new Error('Accepted');
  const { code, details } = parsed.error;
  return { code, paths: (details.issues ?? []).map((issue) => issue.path) };
}

describe('parseExecParams()', () => {
  it('fills in the defaults', () => {
    expect(parse({ executable: 'true' })).toEqual({
      operationId: null,
      mode: 'exec',
      executable: 'true',
      args: [],
      command: null,
      cwd: null,
      env: [],
      timeoutMs: 30_000,
      deadlineMs: null,
      maxOutputBytes: 1_048_576,
      protectedValues: undefined,
      protectedDelivery: undefined,
      traceContext: null,
    });
  });

  it('reads null like an absent field', () => {
    const names = [
      'operationId',
      'command',
      'args',
      'cwd',
      'env',
      'timeoutMs',
      'deadlineMs',
      'maxOutputBytes',
    ];
    const delivery = ['protectedValues', 'protectedDelivery', 'traceContext'];
    const nulls = Object.fromEntries([...names, ...delivery].map((name) => [name, null]));
    expect(parse({ ...nulls, executable: 'true' })).toEqual(parse({ executable: 'true' }));
  });

  it('keeps what was given', () => {
    const given = {
      operationId: 'op',
      executable: ' /bin/echo ',
      args: ['', '😀', ' x '],
      cwd: '/tmp',
      env: { 'my.key': 'a', '1X': 1.5, 'BASH_FUNC_f%%': true, constructor: '' },
      timeoutMs: 1,
      deadlineMs: 1_700_000_000_000.5,
      maxOutputBytes: Number.MAX_SAFE_INTEGER,
      protectedValues: { A: 'b' },
      protectedDelivery: { gatewayId: 'g' },
      traceContext: { traceparent: TRACEPARENT, tracestate: 'a=1', other: 1 },
      parentRunId: { any: 'thing' },
    };
    expect(parse(given)).toEqual({
      ...{ operationId: 'op', mode: 'exec', executable: '/bin/echo', args: ['', '😀', ' x '], command: null },
      cwd: '/tmp',
      env: [
        ['my.key', 'a'],
        ['1X', '1.5'],
        ['BASH_FUNC_f%%', 'true'],
        ['constructor', ''],
      ].sort(([a = ''], [b = '']) => Object.keys(given.env).indexOf(a) - Object.keys(given.env).indexOf(b)),
      ...{ timeoutMs: 1, deadlineMs: 1_700_000_000_000.5, maxOutputBytes: Number.MAX_SAFE_INTEGER },
      ...{ protectedValues: { A: 'b' }, protectedDelivery: { gatewayId: 'g' } },
      traceContext: { traceparent: TRACEPARENT, tracestate: 'a=1' },
    });
  });

  it('passes an env name of __proto__ unchanged', () => {
    expect(parse(JSON.parse('{"executable":"env","env":{"__proto__":"x"}}')).env).toEqual([
      ['__proto__', 'x'],
    ]);
  });

  it('trims command and reads it as shell mode', () => {
    const { mode, command, executable } = parse({ command: '\n ls | wc \t', executable: ' ', args: [] });
    expect({ mode, command, executable }).toEqual({ mode: 'shell', command: 'ls | wc', executable: null });
  });

  it.each([
    ['operationId', ''],
    ['cwd', ''],
  ])('reads an empty %s as the default', (field, value) => {
    expect(parse({ executable: 'true', [field]: value })).toEqual(parse({ executable: 'true' }));
  });

  it.each([
    ['command_or_executable_required', {}],
    ['command_or_executable_required', { command: ' ', executable: '\n' }],
    ['command_and_executable_mutually_exclusive', { command: 'a', executable: 'b' }],
    ['args_with_command_invalid', { command: 'a', args: ['b'] }],
  ])('refuses the form with %s', (code, params) => {
    expect(refused(params).code).toBe(code);
  });

  it.each([
    ['command_invalid', 'params.command', { command: 1 }],
    ['command_invalid', 'params.command', { command: 'a\0b' }],
    ['command_invalid', 'params.command', { command: '\ud800' }],
    ['executable_invalid', 'params.executable', { executable: ['ls'] }],
    ['executable_invalid', 'params.executable', { executable: 'ls\0' }],
    ['executable_invalid', 'params.executable', { executable: '\udc00' }],
    ['args_invalid', 'params.args', { args: 'x' }],
    ['args_invalid', 'params.args', { args: { length: 1 } }],
    ['args_invalid', 'params.args[1]', { args: ['a', 1] }],
    ['args_invalid', 'params.args[0]', { args: [null] }],
    ['args_invalid', 'params.args[1]', { args: ['echo', 'a\0b'] }],
    ['args_invalid', 'params.args[0]', { args: ['\ud800'] }],
    ['env_invalid', 'params.env', { env: [] }],
    ['env_invalid', 'params.env', { env: 'A=b' }],
    ['env_invalid', 'params.env.A', { env: { A: null } }],
    ['env_invalid', 'params.env.A', { env: { A: {} } }],
    ['env_invalid', 'params.env.A', { env: { A: 'x\0y' } }],
    ['env_invalid', 'params.env.A', { env: { A: '\ud800' } }],
    ['env_invalid', 'params.env.A', { env: { A: Number.POSITIVE_INFINITY } }],
    ['env_invalid', 'params.env[""]', { env: { '': 'x' } }],
    ['env_invalid', 'params.env["a=b"]', { env: { 'a=b': 'x' } }],
    ['env_invalid', 'params.env["a\\u0000"]', { env: { 'a\0': 'x' } }],
    ['cwd_invalid', 'params.cwd', { cwd: 5 }],
    ['cwd_invalid', 'params.cwd', { cwd: '/a\0' }],
    ['cwd_invalid', 'params.cwd', { cwd: '/\ud800' }],
    ['trace_context_invalid', 'params.traceContext', { traceContext: TRACEPARENT }],
    ['trace_context_invalid', 'params.traceContext.traceparent', { traceContext: {} }],
    ...[0, -1, 1.5, '5', true, 2 ** 53, Number.POSITIVE_INFINITY].flatMap(
      (value): [string, string, object][] => [
        ['invalid_params', 'params.timeoutMs', { timeoutMs: value }],
        ['invalid_params', 'params.maxOutputBytes', { maxOutputBytes: value }],
      ],
    ),
    ...[0, -1, '5', Number.POSITIVE_INFINITY].map((value): [string, string, object] => [
      'invalid_params',
      'params.deadlineMs',
      { deadlineMs: value },
    ]),
    ['invalid_params', 'params.operationId', { operationId: 5 }],
    ['invalid_params', 'params.operationId', { operationId: 'x'.repeat(257) }],
    ['invalid_params', 'params.operationId', { operationId: '\ud800' }],
  ])('refuses with %s and names %s', (code, path, params) => {
    expect(refused({ executable: 'true', ...params })).toEqual({ code, paths: [path] });
  });

  it('takes an operation id of 256 characters', () => {
    expect(parse({ executable: 'true', operationId: 'x'.repeat(256) }).operationId).toHaveLength(256);
  });

  it('reports every problem at once', () => {
    const wrong = { executable: 'true', timeoutMs: -1, deadlineMs: 'x', maxOutputBytes: 0, operationId: 1 };
    expect(refused(wrong).paths.toSorted()).toEqual(
      ['deadlineMs', 'maxOutputBytes', 'operationId', 'timeoutMs'].map((name) => `params.${name}`),
    );
    expect(refused({ ...wrong, cwd: 1 })).toMatchObject({ code: 'cwd_invalid' });
  });

  it('lists twenty issues of a hostile line, says that there are more, and never shows a value', () => {
    const parsed = parseExecParams({ executable: 'x', args: Array(500_000).fill('secret\0') });
    if (parsed.status === 'ok') throw new Error('Accepted');
    expect(parsed.error.details.issues).toHaveLength(21);
    expect(JSON.stringify(parsed.error.details)).toContain('more problems');
    expect(JSON.stringify([parsed.error.details, parsed.error.message])).not.toContain('secret');
  });

  it('clips the name of a huge wrong variable', () => {
    const { paths } = refused({ executable: 'x', env: { [`=${'n'.repeat(1_000_000)}`]: '' } });
    expect(paths[0]?.length).toBeLessThanOrEqual(256);
  });

  it('never throws, whatever the values', () => {
    const names = ['operationId', 'command', 'executable', 'args', 'cwd', 'env', 'timeoutMs', 'traceContext'];
    const params = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
    const property = fc.property(params, (value) => {
      expect(['ok', 'invalid']).toContain(parseExecParams(value).status);
    });
    fc.assert(property);
  });
});
