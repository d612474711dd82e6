import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { requestDigest, sha256Hex } from '../../src/protocol/digest.ts';
import type { BurrowError } from '../../src/protocol/errors.ts';

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The sample of RFC 8785, sections 3.2.2 and 3.2.3, with its canonical form. */
const RFC_8785_SAMPLE =
  '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
  '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
const RFC_8785_CANONICAL =
  '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
  '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';

describe('requestDigest()', () => {
  it('is the digest of the canonical form of RFC 8785', () => {
    const digest = requestDigest('process.exec', JSON.parse(RFC_8785_SAMPLE));
    expect(digest).toBe(sha256(`{"method":"process.exec","params":${RFC_8785_CANONICAL}}`));
  });

  it('orders names by UTF-16 units, as in RFC 8785 section 3.2.3', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const ordered = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
    const canonical = `{${ordered.map((name) => `${JSON.stringify(name)}:1`).join(',')}}`;
    const digest = requestDigest('m', Object.fromEntries(names.map((name) => [name, 1])));
    expect(digest).toBe(sha256(`{"method":"m","params":${canonical}}`));
  });

  it('does not depend on the order of fields', () => {
    expect(requestDigest('m', { a: 1, b: { c: 2, d: 3 } })).toBe(
      requestDigest('m', { b: { d: 3, c: 2 }, a: 1 }),
    );
  });

  it.each(['operationId', 'protectedValues', 'protectedDelivery', 'traceContext'])(
    'leaves %s out',
    (field) => {
      expect(requestDigest('m', { a: 1, [field]: { x: 'y' } })).toBe(requestDigest('m', { a: 1 }));
      expect(requestDigest('m', { a: { [field]: 1 } })).not.toBe(requestDigest('m', { a: {} }));
    },
  );

  it.each([
    ['the method', 'n', { a: 1 }],
    ['an unknown field', 'm', { a: 1, parentRunId: 'r' }],
    ['a null', 'm', { a: 1, b: null }],
    ['protectedBindingMetadata', 'm', { a: 1, protectedBindingMetadata: {} }],
    ['a field named __proto__', 'm', JSON.parse('{"a":1,"__proto__":{"b":1}}')],
  ])('counts %s in', (_name, method, params) => {
    expect(requestDigest(method, params)).not.toBe(requestDigest('m', { a: 1 }));
  });

  it.each([
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['a name with a lone surrogate', '{"\\udc00":1}'],
    ['a number out of range', '{"a":[1e400]}'],
  ])('refuses %s', (_name, text) => {
    let thrown: unknown;
    try {
      requestDigest('m', JSON.parse(text));
    } catch (error) {
      thrown = error;
    }
    expect((thrown as BurrowError).code).toBe('invalid_params');
  });
});

describe('sha256Hex()', () => {
  it('hashes text as UTF-8 and bytes as they are', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256Hex(Buffer.from('€'))).toBe(sha256Hex('€'));
  });
});
