import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as envelopes from '../../src/protocol/envelopes.ts';
import { BurrowError } from '../../src/protocol/errors.ts';
import { encodeEvidence } from '../../src/protocol/evidence.ts';
import { parseReply } from '../../src/protocol/replies.ts';
import { sampleEvidence } from './sample-evidence.ts';

const operationIdJson = '"op"';
const outcomeJson = encodeEvidence(sampleEvidence());
const stream = envelopes.frameText(
  envelopes.encodeStream({ operationIdJson, stream: 'stderr', seq: 1, text: { text: 'x' }, truncated: true }),
);

describe('parseReply()', () => {
  it.each([
    ['response', envelopes.encodeResult('1', { status: 'ok' })],
    ['response', envelopes.encodeFailure('null', new BurrowError('stopping', { operationId: 'op' }))],
    [
      'response',
      envelopes.frameText(
        envelopes.encodeOutcomeResponse({ idJson: '"i"', operationIdJson, replay: false, outcomeJson }),
      ),
    ],
    ['error', envelopes.encodeFailure('true', new BurrowError('invalid_json'))],
    ['accepted', envelopes.encodeAccepted('0', 'op')],
    ['process.stream', stream],
    [
      'process.terminal',
      envelopes.frameText(envelopes.encodeTerminal({ operationIdJson, seq: 2, outcomeJson })),
    ],
    ['transport.error', envelopes.encodeTransportError(new BurrowError('frame_too_large'))],
  ])('reads back %s', (type, frame) => {
    const parsed = parseReply(Buffer.from(frame));
    expect(parsed).toEqual({ status: 'reply', reply: JSON.parse(frame) });
    expect(parseReply(frame)).toMatchObject({ status: 'reply', reply: { type } });
  });

  it('keeps unknown fields, also in the evidence', () => {
    const evidence = { ...sampleEvidence(), later: { x: 1 } };
    const event = { type: 'process.terminal', operationId: 'op', seq: 1, evidence, more: 2 };
    expect(parseReply(JSON.stringify(event))).toEqual({ status: 'reply', reply: event });
  });

  it('names an unknown type', () => {
    expect(parseReply('{"type":"process.metrics"}')).toEqual({ status: 'unknown', type: 'process.metrics' });
    expect(parseReply('{"type":"constructor"}')).toEqual({ status: 'unknown', type: 'constructor' });
  });

  it.each([
    'not json',
    '[]',
    'null',
    '{}',
    '{"type":1}',
    '{"type":"response","requestId":1,"ok":true}',
    '{"type":"response","requestId":1,"ok":false,"error":{}}',
    '{"type":"response","requestId":{},"ok":true,"result":{}}',
    '{"type":"accepted","requestId":1,"ok":true,"operationId":1,"protocolVersion":"1.0"}',
    '{"type":"process.terminal","operationId":"op","seq":1,"evidence":{}}',
    ...['operationId', 'stream', 'seq', 'data', 'truncated'].map((field) =>
      JSON.stringify({ ...JSON.parse(stream), [field]: null }),
    ),
    JSON.stringify({ ...JSON.parse(stream), seq: 0 }),
  ])('refuses %s', (line) => {
    expect(parseReply(line).status).toBe('invalid');
  });

  it('never throws, whatever the line', () => {
    const types = fc.constantFrom('response', 'error', 'accepted', 'process.stream', 'process.terminal');
    const line = fc
      .tuple(fc.dictionary(fc.string(), fc.jsonValue()), types)
      .map(([rest, type]) => ({ ...rest, type }));
    const property = fc.property(line, (value) => {
      expect(['reply', 'invalid']).toContain(parseReply(JSON.stringify(value)).status);
    });
    fc.assert(property);
  });
});
