import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { TraceContextSchema, toTraceContext } from '../../src/protocol/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${SPAN}-01`;

describe('TraceContextSchema', () => {
  it.each([traceparent, `00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-ff`])(
    'takes the traceparent %s',
    (value) => {
      expect(v.is(TraceContextSchema, { traceparent: value })).toBe(true);
    },
  );

  it.each([
    `01-${TRACE}-${SPAN}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01-extra`,
    `00-${TRACE}-${SPAN}-1`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    '',
    null,
    7,
  ])('refuses the traceparent %s', (value) => {
    expect(v.is(TraceContextSchema, { traceparent: value })).toBe(false);
  });

  it.each([
    undefined,
    null,
    '',
    'a=1',
    'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    'a=1 , b=2,,\tc=3',
    'fw529a3039@dt=FfUF;x:y',
    `k=${'v'.repeat(256)}`,
    Array.from({ length: 32 }, (_, index) => `k${index}=1`).join(','),
  ])('takes the tracestate %s', (tracestate) => {
    expect(v.is(TraceContextSchema, { traceparent, tracestate })).toBe(true);
  });

  it.each([
    'a',
    '=1',
    'a=',
    'A=1',
    'a=1=2',
    'a=1,a=2',
    'a=é',
    'a=1\n',
    'a@b@c=1',
    `k=${'v'.repeat(257)}`,
    `k=${'v'.repeat(250)},l=${'v'.repeat(250)},m=123456789`,
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(','),
    5,
  ])('refuses the tracestate %s', (tracestate) => {
    expect(v.is(TraceContextSchema, { traceparent, tracestate })).toBe(false);
  });
});

describe('toTraceContext()', () => {
  it.each([undefined, null, ''])('leaves out a tracestate of %s', (tracestate) => {
    expect(toTraceContext({ traceparent, tracestate })).toEqual({ traceparent });
  });

  it('keeps a tracestate as it came', () => {
    expect(toTraceContext({ traceparent, tracestate: 'a=1 ,b=2' }).tracestate).toBe('a=1 ,b=2');
  });
});
