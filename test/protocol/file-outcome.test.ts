import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/protocol/digest.ts';
import { fitFileOutcomeJson, sealFileOutcome } from '../../src/protocol/file-outcome.ts';

const common = { error: null, warnings: [], artifacts: null, durationMs: 3 };

describe('sealFileOutcome()', () => {
  it('adds the fingerprint of all that stands before it', () => {
    const { outcome, json } = sealFileOutcome({ tool: 'files_inspect', ok: true, path: '/€', ...common });

    expect(JSON.stringify(outcome)).toBe(json);
    const before = `${json.slice(0, json.indexOf(',"resultFingerprint"'))}}`;
    expect(outcome.resultFingerprint).toBe(sha256Hex(before).slice(0, 16));
  });

  it.each(['tool', 'content', 'durationMs'])('gives the same text when %s comes encoded', (name) => {
    const body = { tool: 'files_read', ok: true, content: 'a"b', ...common };
    const json = JSON.stringify(body[name as keyof typeof body]);

    expect(sealFileOutcome(body, { name, json })).toEqual(sealFileOutcome(body));
  });
});

describe('fitFileOutcomeJson()', () => {
  it('leaves what fits as it is', () => {
    const { json } = sealFileOutcome({ tool: 'files_list', ok: true, dirPath: '/d', entries: [], ...common });

    expect(fitFileOutcomeJson(json, json.length)).toBe(json);
  });

  it.each(['filePath', 'path', 'dirPath'])('keeps %s in the failure that takes its place', (field) => {
    const { json } = sealFileOutcome({
      tool: 't',
      ok: true,
      [field]: '/d',
      paths: ['x'.repeat(9_000)],
      ...common,
    });

    const fitted = JSON.parse(fitFileOutcomeJson(json, 4_096));

    expect(fitted).toMatchObject({ tool: 't', ok: false, [field]: '/d', error: 'output_frame_too_large' });
    expect(fitted.resultFingerprint).toMatch(/^[0-9a-f]{16}$/);
  });

  it('clips even a path that alone fills the frame', () => {
    const { json } = sealFileOutcome({ tool: 't', ok: false, path: '€'.repeat(9_000), ...common });

    const fitted = fitFileOutcomeJson(json, 2_048);

    expect(Buffer.byteLength(fitted)).toBeLessThan(2_048);
    expect(JSON.parse(fitted).path).toMatch(/^€+$/);
  });
});
