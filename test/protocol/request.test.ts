import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseRequest, type Request, RequestSchema, recoverId } from '../../src/protocol/request.ts';

function parse(text: string): ReturnType<typeof parseRequest> {
  return parseRequest(Buffer.from(text));
}

function accepted(text: string): Request {
  const parsed = parse(text);
  if (parsed.status !== 'request') throw new Error(`Refused: ${parsed.error.message}`);
  return parsed.request;
}

function refused(line: string | Buffer): { code: string; idJson: string; issues: unknown } {
  const parsed = parseRequest(Buffer.from(line));
  if (parsed.status !== 'invalid') throw new Error('Accepted');
  return { code: parsed.error.code, idJson: parsed.idJson, issues: parsed.error.details.issues };
}

describe('parseRequest()', () => {
  it.each([
    ['0', '0'],
    ['""', '""'],
    ['"0"', '"0"'],
    ['1.5', '1.5'],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['1e400', '1e400'],
    ['1.50', '1.50'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['true', 'true'],
    ['false', 'false'],
    ['null', 'null'],
    ['"a\\u0000\\"\\ud800"', '"a\\u0000\\"\\ud800"'],
    ['"€😀"', '"€😀"'],
  ])('echoes the id %s as %s', (id, expected) => {
    expect(accepted(`{"id":${id},"method":"health"}`).idJson).toBe(expected);
    expect(accepted(`{"method":"health","params":{"id":3},"id" : ${id} }`).idJson).toBe(expected);
  });

  it('answers a request without an id to null', () => {
    expect(accepted('{"method":"health"}')).toEqual({
      idJson: 'null',
      id: null,
      method: 'health',
      params: {},
    });
  });

  it('keeps the digits of the last of several ids', () => {
    expect(accepted('{"id":1,"method":"health","id":9007199254740993}').idJson).toBe('9007199254740993');
  });

  it.each([
    ['absent', '{"method":"hello"}'],
    ['null', '{"method":"hello","params":null}'],
    ['empty', '{"method":"hello","params":{}}'],
  ])('reads %s params as empty', (_name, text) => {
    expect(accepted(text).params).toEqual({});
  });

  it('skips a byte-order mark', () => {
    expect(accepted('\ufeff{"id":1.0,"method":"hello"}').idJson).toBe('1');
    expect(accepted('\ufeff{"id":2.5,"method":"hello"}').idJson).toBe('2.5');
  });

  it.each([
    ['an object id', '{"id":{},"method":"hello"}', 'null'],
    ['an array id', '{"id":[1],"method":"hello"}', 'null'],
    ['an id over 64 KiB', `{"id":"${'i'.repeat(65_536)}","method":"hello"}`, 'null'],
    ['a number over 64 KiB', `{"id":${'9'.repeat(65_537)},"method":"hello"}`, 'null'],
    ['no method', '{"id":"q"}', '"q"'],
    ['a method that is no string', '{"id":0,"method":7}', '0'],
    ['params that are an array', '{"id":"","method":"hello","params":[]}', '""'],
    ['params that are text', '{"id":false,"method":"hello","params":"x"}', 'false'],
    ['an array', '[{"id":1}]', 'null'],
    ['null', 'null', 'null'],
    ['a string', '"id"', 'null'],
    ['a number', '1', 'null'],
  ])('refuses %s as invalid_message', (_name, text, idJson) => {
    expect(refused(text)).toMatchObject({ code: 'invalid_message', idJson });
  });

  it.each([
    ['a cut-off line', '{"id":"bad","method":', '"bad"'],
    ['text', 'hello', 'null'],
    ['NaN', '{"id":4,"method":"hello","params":{"x":NaN}}', '4'],
    ['single quotes', "{'id':1}", 'null'],
    ['a raw control character', '{"id":1,"method":"a\u0000"}', '1'],
  ])('refuses %s as invalid_json with the id it shows', (_name, text, idJson) => {
    expect(refused(text)).toMatchObject({ code: 'invalid_json', idJson });
  });

  it('refuses bytes that are not UTF-8', () => {
    const line = Buffer.concat([Buffer.from('{"id":"u","method":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(refused(line)).toMatchObject({ code: 'invalid_json', idJson: '"u"' });
  });

  it('keeps lone surrogates and zero bytes of params for the method to judge', () => {
    expect(accepted('{"method":"m","params":{"a":"\\ud800\\u0000"}}').params).toEqual({ a: '\ud800\0' });
  });

  it('lets __proto__, constructor and duplicate keys pollute nothing', () => {
    const text =
      '{"__proto__":{"method":"evil"},"constructor":{"prototype":{"x":1}},"id":1,"method":"hello",' +
      '"params":{"a":1,"a":2,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}';
    const { params } = accepted(text);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
    expect(params.a).toBe(2);
    expect(refused('{"id":1,"__proto__":{"method":"hello"}}').code).toBe('invalid_message');
  });

  it.each([
    ['unclosed and bare', '['.repeat(200_000), 'invalid_json', 'null'],
    ['closed and bare', '['.repeat(200_000) + ']'.repeat(200_000), 'invalid_message', 'null'],
    [
      'unclosed in params',
      `{"id":"deep","method":"m","params":{"a":${'['.repeat(200_000)}`,
      'invalid_json',
      '"deep"',
    ],
    [
      'closed in params',
      `{"id":"deep","method":"m","params":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
      'invalid_params',
      '"deep"',
    ],
    [
      'objects in params',
      `{"params":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)},"method":"m","id":5}`,
      'invalid_params',
      '5',
    ],
  ])('answers 200,000 levels, %s', (_name, text, code, idJson) => {
    expect(refused(text)).toMatchObject({ code, idJson });
  });

  it('takes 1,000 levels of params and no more', () => {
    const nested = (levels: number): string =>
      `{"id":1,"method":"m","params":{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}}`;
    expect(accepted(nested(1_000)).method).toBe('m');
    expect(refused(nested(1_001)).issues).toEqual([{ path: 'params', message: expect.any(String) }]);
  });

  it('takes what the published schema takes and nothing else', () => {
    const field = fc.option(fc.oneof(fc.jsonValue(), fc.constantFrom('m', 1, {})), { nil: undefined });
    const property = fc.property(field, field, field, (id, method, params) => {
      const text = JSON.stringify({ id, method, params });
      expect(parse(text).status === 'request').toBe(v.is(RequestSchema, JSON.parse(text)));
    });
    fc.assert(property);
  });

  it('never throws, whatever the bytes', () => {
    const bytes = fc.uint8Array().map((array) => Buffer.from(array));
    const broken = fc
      .tuple(fc.json(), fc.nat())
      .map(([text, cut]) => Buffer.from(text.slice(0, cut % (text.length + 1))));
    const property = fc.property(fc.oneof(bytes, broken), (line) => {
      expect(['request', 'invalid']).toContain(parseRequest(line).status);
      expect(() => JSON.parse(recoverId(line))).not.toThrow();
    });
    fc.assert(property);
  });
});

describe('recoverId()', () => {
  it.each([
    ['{"id":"bad","method":', '"bad"'],
    ['{"id":12', 'null'],
    ['{"id":12,', '12'],
    ['{"id":9007199254740993 ,', '9007199254740993'],
    ['{"id":tru', 'null'],
    ['{"id":true}', 'true'],
    ['{"id":null,"method"', 'null'],
    ['{"id":"half', 'null'],
    ['{"id":"half\\"', 'null'],
    ['{"id":"esc\\\\",', '"esc\\\\"'],
    ['{"\\u0069d":"escaped key",', '"escaped key"'],
    ['{"params":{"id":"nested"},"method":', 'null'],
    ['{"params":{"id":"nested', 'null'],
    ['{"params":[{"id":"nested"}],"id":"outer",', '"outer"'],
    ['{"text":"\\"id\\":\\"quoted\\",","x":', 'null'],
    ['{"text":"{\\"id\\":1}","id":2,', '2'],
    ['{"a":"}]","id":3,', '3'],
    ['{"id":{"id":1},"method":', 'null'],
    ['{"id":01,', 'null'],
    ['{"id":1,"id":"last",', '"last"'],
    ['{"id":1,"id":', 'null'],
    ['{"id":"a\nb",', 'null'],
    ['{"method":"x" "id":5,', 'null'],
    ['[{"id":5},', 'null'],
    ['  {  "id"  :  "blanks"  ,', '"blanks"'],
    ['', 'null'],
  ])('reads %s as %s', (text, expected) => {
    expect(recoverId(Buffer.from(text))).toBe(expected);
  });

  it('reads the same id as JSON.parse from any whole object', () => {
    const id = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger(), fc.boolean(), fc.constant(null));
    const property = fc.property(fc.dictionary(fc.string(), fc.jsonValue()), id, (rest, value) => {
      const text = JSON.stringify({ ...rest, id: value });
      expect(JSON.parse(recoverId(Buffer.from(text)))).toEqual(JSON.parse(text).id);
    });
    fc.assert(property);
  });
});
