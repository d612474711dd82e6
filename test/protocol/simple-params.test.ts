import { describe, expect, it } from 'vitest';
import { parseCancelParams } from '../../src/protocol/simple-params.ts';

describe('parseCancelParams()', () => {
  it('reads the operation id and ignores the rest', () => {
    expect(parseCancelParams({ operationId: 'op', reason: 'x' })).toEqual({
      status: 'ok',
      value: { operationId: 'op' },
    });
  });

  it.each([
    [{}],
    [{ operationId: null }],
    [{ operationId: '' }],
    [{ operationId: 1 }],
    [{ operationId: 'x'.repeat(257) }],
  ])('refuses %j', (params) => {
    const parsed = parseCancelParams(params);
    if (parsed.status === 'ok') throw new Error('Accepted');
    expect(parsed.error.code).toBe('invalid_params');
    expect(parsed.error.details.issues?.map((issue) => issue.path)).toEqual(['params.operationId']);
  });
});
