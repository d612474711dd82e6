import { describe, expect, it } from 'vitest';
import {
  encodeAccepted,
  encodeFailure,
  encodeOutcomeResponse,
  encodeResult,
  encodeStream,
  encodeTerminal,
  encodeTransportError,
  frameText,
} from '../../src/protocol/envelopes.ts';
import { BurrowError } from '../../src/protocol/errors.ts';

describe('encoders', () => {
  it('write the fields in the order of the protocol', () => {
    const operationIdJson = '"op"';
    const frames = [
      encodeResult('"r"', { status: 'ok' }),
      encodeAccepted('9007199254740993', 'op"1'),
      encodeStream({ operationIdJson, stream: 'stdout', seq: 1, text: { text: '€\n' }, truncated: false }),
      encodeTerminal({ operationIdJson, seq: 2, outcomeJson: '{"x":1}' }),
      encodeOutcomeResponse({ idJson: 'null', operationIdJson, replay: true, outcomeJson: '{"x":1}' }),
      encodeOutcomeResponse({
        idJson: '0',
        operationIdJson,
        replay: false,
        outcomeJson: '{}',
        journaled: false,
      }),
    ];
    expect(frames.map(frameText)).toEqual([
      '{"type":"response","requestId":"r","ok":true,"result":{"status":"ok"}}\n',
      '{"type":"accepted","requestId":9007199254740993,"ok":true,"operationId":"op\\"1","protocolVersion":"1.0"}\n',
      '{"type":"process.stream","operationId":"op","stream":"stdout","seq":1,"data":"€\\n","truncated":false}\n',
      '{"type":"process.terminal","operationId":"op","seq":2,"evidence":{"x":1}}\n',
      '{"type":"response","requestId":null,"ok":true,"result":{"operationId":"op","replay":true,"outcome":{"x":1}}}\n',
      '{"type":"response","requestId":0,"ok":true,"result":{"operationId":"op","replay":false,"outcome":{},"journaled":false}}\n',
    ]);
  });
});

describe('encodeFailure()', () => {
  it('answers a wrong envelope with type error', () => {
    expect(encodeFailure('"q1"', new BurrowError('unknown_method'))).toBe(
      '{"type":"error","requestId":"q1","ok":false,"error":{"code":"unknown_method","message":"Method is not known"}}\n',
    );
  });

  it('answers a refused request with type response, its details and nothing of the cause', () => {
    const details = {
      binary: 'nope',
      operationId: 'op',
      errno: 'ENOENT',
      issues: [{ path: 'p', message: 'm' }],
    };
    const error = new BurrowError('spawn_failed', details, new Error('hidden cause'));
    expect(JSON.parse(encodeFailure('1', error))).toEqual({
      type: 'response',
      requestId: 1,
      ok: false,
      error: { code: 'spawn_failed', message: 'Cannot start the process', ...details },
    });
  });

  it('says retryable only when true', () => {
    expect(JSON.parse(encodeFailure('1', new BurrowError('stopping'))).error.retryable).toBe(true);
    expect(JSON.parse(encodeFailure('1', new BurrowError('invalid_params'))).error).not.toHaveProperty(
      'retryable',
    );
    const withdrawn = new BurrowError('stopping', { retryable: false });
    expect(JSON.parse(encodeFailure('1', withdrawn)).error).not.toHaveProperty('retryable');
  });

  it('stays within a frame: clips the message, leaves out details that do not fit', () => {
    const error = new BurrowError('spawn_failed', {
      message: '€'.repeat(1_000_000),
      operationId: 'op',
      file: 'x'.repeat(3_000_000),
    });
    const frame = encodeFailure('1', error);
    expect(Buffer.byteLength(frame)).toBeLessThan(5_000);
    expect(JSON.parse(frame).error).toMatchObject({ code: 'spawn_failed', operationId: 'op' });
  });
});

describe('encodeTransportError()', () => {
  it('answers no request', () => {
    const frame = encodeTransportError(new BurrowError('frame_too_large'));
    expect(JSON.parse(frame)).toMatchObject({
      type: 'transport.error',
      ok: false,
      error: { code: 'frame_too_large' },
    });
  });
});
