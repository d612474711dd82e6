import { describe, expect, it } from 'vitest';
import { parseFilesystemParams } from '../../src/protocol/filesystem-params.ts';

describe('parseFilesystemParams()', () => {
  it('takes the tool and its arguments as they came', () => {
    const toolArguments = { filePath: '/f', maxBytes: '12' };

    expect(
      parseFilesystemParams({ operationId: 'a', tool: 'files_read', arguments: toolArguments, other: 1 }),
    ).toEqual({
      status: 'ok',
      value: { operationId: 'a', tool: 'files_read', arguments: toolArguments, traceContext: null },
    });
  });

  it.each([
    ['absent', undefined],
    ['null', null],
  ])('reads arguments that are %s as an empty object', (_name, given) => {
    const parsed = parseFilesystemParams({ tool: 'files_list', arguments: given, operationId: null });
    expect(parsed).toMatchObject({ status: 'ok', value: { arguments: {}, operationId: null } });
  });

  it.each([
    [{}, 'invalid_params'],
    [{ tool: null }, 'invalid_params'],
    [{ tool: 'x', operationId: 'a'.repeat(257) }, 'invalid_params'],
    [{ tool: 'x', operationId: 1, traceContext: {} }, 'trace_context_invalid'],
    [{ protectedValues: { A: 'b' } }, 'protected_delivery_binding_invalid'],
    [{ tool: 'x', protectedDelivery: {} }, 'protected_delivery_binding_invalid'],
  ])('refuses %j with %s', (params, code) => {
    expect(parseFilesystemParams(params)).toMatchObject({ status: 'invalid', error: { code } });
  });

  it('takes null for protected values that are not there', () => {
    expect(parseFilesystemParams({ tool: 'x', protectedValues: null }).status).toBe('ok');
  });
});
