import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { GatewayIdSchema } from '../../src/protocol/auth.ts';
import { paramsError } from '../../src/protocol/issues.ts';

function issuesOf(schema: v.GenericSchema, params: unknown): unknown {
  const parsed = v.safeParse(schema, params);
  return parsed.success ? [] : paramsError(parsed.issues).details.issues;
}

describe('paramsError()', () => {
  it('says of an absent field that it is missing', () => {
    const schema = v.object({ gatewayId: GatewayIdSchema, more: v.looseObject({ name: v.string() }) });

    expect(issuesOf(schema, { more: {} })).toEqual([
      { path: 'params.gatewayId', message: 'Is missing' },
      { path: 'params.more.name', message: 'Is missing' },
    ]);
  });

  it.each(['', 'a\nb', 'x'.repeat(257)])(
    'says what an id of a gateway is, and not a pattern (%j)',
    (gatewayId) => {
      expect(issuesOf(v.object({ gatewayId: GatewayIdSchema }), { gatewayId })).toEqual([
        {
          path: 'params.gatewayId',
          message: 'Expected 1 to 256 characters, none of them a control character',
        },
      ]);
    },
  );
});
