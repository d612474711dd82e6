import { describe, expect, it } from 'vitest';
import { parseDurationMs, parseSizeBytes } from '../../src/support/durations.ts';

describe('parseSizeBytes()', () => {
  it.each([
    ['4096', 4_096],
    ['2.0', 2],
    ['1.5KiB', 1_536],
    ['1.001KB', 1_001],
    ['4.35MB', 4_350_000],
    ['1.1GB', 1_100_000_000],
    ['0.5K', 512],
  ])('reads %s', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes);
  });

  it.each([
    '1.5',
    '0.5',
    '1.5B',
    '0.3KiB',
    '1.0001KB',
    '0',
    '-1',
    '1e3',
    '1XB',
    '',
    '9007199254740993',
    '9.9PB',
  ])('refuses %j', (text) => {
    expect(parseSizeBytes(text)).toBeUndefined();
  });
});

describe('parseDurationMs()', () => {
  it.each([
    ['500ms', 500],
    ['1.5s', 1_500],
    ['2', 2_000],
    ['0.33333s', 333],
    ['0.5ms', 1],
    ['0.0001s', undefined],
    ['1y', undefined],
  ])('reads %s as %s', (text, wanted) => {
    expect(parseDurationMs(text)).toBe(wanted);
  });
});
