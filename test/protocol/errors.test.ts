import { describe, expect, it } from 'vitest';
import { MAX_FRAME_BYTES } from '../../src/protocol/defaults.ts';
import { BurrowError, ERRORS, type ErrorCode, isBurrowError } from '../../src/protocol/errors.ts';

const rows = Object.entries(ERRORS);

describe('ERRORS', () => {
  it.each(rows)('words %s by the rules', (code, row) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    for (const sentence of [row.meaning, row.message, row.remedy])
      expect(sentence).toMatch(/^[A-Za-z].*[^.\s]$/);
    expect(row.message[0]).toBe(row.message[0]?.toUpperCase());
  });

  it('states the frame limit of the code', () => {
    expect(ERRORS.frame_too_large.message).toContain(` ${MAX_FRAME_BYTES} `);
  });

  it.each<[string, ErrorCode[]]>([
    [
      'envelope',
      [
        'invalid_json',
        'invalid_message',
        'unknown_method',
        'frame_too_large',
        'protected_delivery_binding_invalid',
      ],
    ],
    [
      'operation',
      [
        'operation_id_conflict',
        'operation_in_progress',
        'protected_redelivery_forbidden',
        'output_frame_too_large',
        'spawn_failed',
      ],
    ],
  ])('holds the codes of the area %s', (area, codes) => {
    expect(rows.filter(([, row]) => row.area === area).map(([code]) => code)).toEqual(codes);
  });
});

describe('BurrowError', () => {
  it('speaks the sentence of the table unless given a better one', () => {
    expect(new BurrowError('stopping').message).toBe(ERRORS.stopping.message);
    expect(new BurrowError('stopping', { message: 'Gateway stops' }).message).toBe('Gateway stops');
  });

  it('keeps its cause', () => {
    const cause = new Error('EIO');
    expect(new BurrowError('internal_error', {}, cause).cause).toBe(cause);
    expect('cause' in new BurrowError('internal_error')).toBe(false);
  });

  it('is recognised by shape', () => {
    expect(isBurrowError(new BurrowError('stopping'))).toBe(true);
    expect(isBurrowError(new Error('stopping'))).toBe(false);
    expect(isBurrowError({ name: 'BurrowError', code: 'stopping', details: {} })).toBe(false);
  });
});
