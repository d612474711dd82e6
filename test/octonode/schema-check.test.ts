import { describe, expect, it } from 'vitest';
import { createSchemaChecker } from '../../src/octonode/schema-check.ts';

const checker = createSchemaChecker();

describe('createSchemaChecker()', () => {
  it.each([
    ['undefined', undefined, 1, true],
    ['true', true, 1, true],
    ['false', false, 1, false],
    ['a type', { type: 'string' }, 1, false],
    ['a format', { type: 'string', format: 'email' }, 'nobody', false],
    ['an unknown format', { format: 'shoe-size' }, 'x', true],
    [
      'draft-07 by name',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { a: { type: 'string' } },
        $ref: '#/definitions/a',
      },
      1,
      false,
    ],
    ['draft-07 tuples', { items: [{ type: 'string' }] }, [1], false],
    [
      '2020-12 by name',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { a: { type: 'string' } },
        $ref: '#/$defs/a',
      },
      1,
      false,
    ],
    ['2020-12 by its keywords', { prefixItems: [{ type: 'string' }] }, [1], false],
    ['a property that every object inherits', { properties: { constructor: { type: 'string' } } }, {}, true],
    ['a required property that every object inherits', { required: ['toString'] }, {}, false],
  ])('judges by %s', async (_name, schema, value, isValid) => {
    expect((await checker.check(schema, value)).status).toBe(isValid ? 'ok' : 'invalid');
  });

  it('names the place by JSON Pointer, and the property that is too many', async () => {
    const schema = { properties: { a: { items: { type: 'number' } } }, additionalProperties: false };

    expect(await checker.check(schema, { a: [1, 'x'], b: 1 })).toEqual({
      status: 'invalid',
      errors: [
        { path: '', message: 'must NOT have additional properties ("b")' },
        { path: '/a/1', message: 'must be number' },
      ],
    });
  });

  it('lists at most twenty errors', async () => {
    const verdict = await checker.check(
      { items: { type: 'string' } },
      Array.from({ length: 100 }, () => 1),
    );

    expect(verdict.status === 'invalid' && verdict.errors.length).toBe(20);
  });

  it.each([
    ['no schema', 5],
    ['an unknown type', { type: 'strin' }],
    ['a misplaced value', { properties: { a: 5 } }],
    ['a keyword of the wrong kind', { required: 'a' }],
    ['a pattern that does not compile', { pattern: '[' }],
    ['a reference to nowhere', { $ref: '#/nope' }],
    ['another draft', { $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['an asynchronous schema', { $async: true }],
  ])('says so when the schema is %s', async (_name, schema) => {
    expect(await checker.check(schema, 'x')).toMatchObject({
      status: 'invalid',
      errors: [{ path: '', message: expect.stringContaining('schema itself') }],
    });
  });

  it('takes schemas with the same $id one after the other', async () => {
    expect(await checker.check({ $id: 'same', type: 'string' }, 'x')).toEqual({ status: 'ok' });
    expect((await checker.check({ $id: 'same', type: 'number' }, 'x')).status).toBe('invalid');
  });

  it('compiles a schema once and then answers at once', async () => {
    const schema = { type: 'string', minLength: 3 };
    const fresh = createSchemaChecker();

    expect(fresh.checkNow(schema, 'abc')).toBeUndefined();
    await fresh.check(schema, 'abc');
    expect(fresh.checkNow(schema, 'abc')).toEqual({ status: 'ok' });
    expect(fresh.checkNow(schema, 'ab')?.status).toBe('invalid');
  });

  it('forgets the oldest of many schemas and still judges them', async () => {
    for (let index = 0; index < 300; index += 1) {
      expect((await checker.check({ const: index }, index)).status).toBe('ok');
    }
    expect((await checker.check({ const: 0 }, 1)).status).toBe('invalid');
  });
});
