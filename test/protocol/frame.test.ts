import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FRAME_BYTES, MAX_TLS_FRAME_BYTES } from '../../src/protocol/defaults.ts';
import { sha256Hex } from '../../src/protocol/digest.ts';
import { encodeOutcomeResponse, encodeTerminal, frameText } from '../../src/protocol/envelopes.ts';
import { encodeEvidence, type ProcessEvidence } from '../../src/protocol/evidence.ts';
import { fitEvidence, outcomeBudgetBytes, refitOutcomeJson } from '../../src/protocol/frame.ts';
import { encodedBytes } from '../../src/protocol/shorten.ts';
import { sampleEvidence } from './sample-evidence.ts';

const MIB = 1024 * 1024;

function fitted(evidence: ProcessEvidence, maxBytes: number): { json: string; evidence: ProcessEvidence } {
  const result = fitEvidence(evidence, maxBytes);
  if (result.status === 'too_large') throw new Error('Too large');
  return result;
}

/** What holds for every shortened evidence. */
function expectHonest(original: ProcessEvidence, maxBytes: number): ProcessEvidence {
  const { json, evidence } = fitted(original, maxBytes);
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxBytes);
  expect(JSON.parse(json)).toEqual(evidence);
  for (const stream of ['stdout', 'stderr'] as const) {
    expect(evidence[stream].isWellFormed()).toBe(true);
    expect(original[stream].startsWith(evidence[stream])).toBe(true);
    expect(evidence[`${stream}Digest`]).toBe(sha256Hex(evidence[stream]));
  }
  const isWhole = evidence.stdout === original.stdout && evidence.stderr === original.stderr;
  if (!isWhole) expect(evidence).toMatchObject({ truncated: true, transportTruncated: true });
  return evidence;
}

function bareBytes(): number {
  const bare = { stdout: '', stderr: '', truncated: true, transportTruncated: true } as const;
  return Buffer.byteLength(encodeEvidence(sampleEvidence(bare)));
}

describe('fitEvidence()', () => {
  it('leaves what fits as it is', () => {
    const evidence = sampleEvidence({ stdout: 'x'.repeat(100) });
    const json = encodeEvidence(evidence);
    expect(fitEvidence(evidence, Buffer.byteLength(json))).toEqual({ status: 'fits', json, evidence });
    expect(fitted(evidence, Buffer.byteLength(json) - 1).evidence.transportTruncated).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('cuts emoji whole when %i bytes are left', (roomBytes) => {
    const evidence = expectHonest(
      sampleEvidence({ stdout: '😀'.repeat(500), stdoutBytes: 0 }),
      bareBytes() + roomBytes,
    );
    expect(evidence.stdout).toBe('😀'.repeat(Math.floor(roomBytes / 4)));
  });

  it.each([0, 1, 2, 3, 4, 5])('fits the 2 MiB frame when the cut falls %i bytes into an emoji', (shift) => {
    const stdout = 'x'.repeat(shift) + '😀'.repeat(MIB);
    const maxBytes = outcomeBudgetBytes(MAX_FRAME_BYTES, '"id"', 'op');
    const evidence = expectHonest(sampleEvidence({ stdout }), maxBytes);
    expect(Buffer.byteLength(encodeEvidence(evidence))).toBeGreaterThan(maxBytes - 4);
  });

  it.each([
    ['plain text', 'a'.repeat(3 * MIB), 'b'.repeat(MIB)],
    ['text that grows sixfold', '\u0001'.repeat(MIB), '\u0002'.repeat(MIB / 4)],
    ['mixed text', 'é"\\\n😀'.repeat(MIB / 4), 'plain '.repeat(MIB / 4)],
  ])('uses the room and shares it in proportion: %s', (_name, stdout, stderr) => {
    const original = sampleEvidence({ stdout, stderr });
    const evidence = expectHonest(original, MIB);
    expect(Buffer.byteLength(encodeEvidence(evidence))).toBeGreaterThan(MIB * 0.99);
    const kept = encodedBytes(evidence.stdout) / encodedBytes(evidence.stderr);
    const given = encodedBytes(stdout) / encodedBytes(stderr);
    expect(kept / given).toBeCloseTo(1, 1);
  });

  it('keeps a short error message whole beside a huge output', () => {
    const evidence = expectHonest(
      sampleEvidence({ stdout: 'a'.repeat(3 * MIB), stderr: 'no such file' }),
      MIB,
    );
    expect(evidence.stderr).toBe('no such file');
  });

  it('keeps a part of both when there is little room', () => {
    const original = sampleEvidence({ stdout: '😀'.repeat(MIB), stderr: '€'.repeat(10) });
    const evidence = expectHonest(original, bareBytes() + 40);
    expect(evidence.stdout).not.toBe('');
    expect(evidence.stderr).not.toBe('');
  });

  it('weighs a stream by its whole size when only its beginning was kept', () => {
    const texts = { stdout: 'a'.repeat(2 * MIB), stderr: 'b'.repeat(2 * MIB) };
    const sizes = { stdoutBytes: 6 * MIB, stderrBytes: 2 * MIB };
    const { evidence } = fitted(sampleEvidence({ ...texts, ...sizes, transportTruncated: true }), MIB);
    expect(evidence.stdout.length / evidence.stderr.length).toBeCloseTo(3, 1);
  });

  it('tells true byte totals whatever is cut', () => {
    const original = sampleEvidence({ stdout: 'a'.repeat(3 * MIB), stdoutBytes: 7 * MIB });
    expect(fitted(original, MIB).evidence.stdoutBytes).toBe(7 * MIB);
  });

  it('gives up when the arguments alone do not fit', () => {
    expect(fitEvidence(sampleEvidence({ args: ['x'.repeat(MIB)] }), MIB)).toEqual({ status: 'too_large' });
  });

  it('is honest for any text and any room', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 }).map((value) => value.toWellFormed().repeat(3));
    const property = fc.property(text, text, fc.nat(1_500), (stdout, stderr, roomBytes) => {
      const counts = { stdoutBytes: 0, stderrBytes: 0 };
      expectHonest(sampleEvidence({ stdout, stderr, ...counts }), bareBytes() + roomBytes);
    });
    fc.assert(property);
  });
});

describe('outcomeBudgetBytes()', () => {
  it.each([
    ['"i"', 'op'],
    [`"${'i'.repeat(5_000)}"`, '😀"\n'],
    ['null', 'x'.repeat(256)],
  ])('makes both envelopes fit for the id %s', (idJson, operationId) => {
    const outcomeJson = '1'.repeat(outcomeBudgetBytes(MAX_TLS_FRAME_BYTES, idJson, operationId));
    const operationIdJson = JSON.stringify(operationId);
    const frames = [
      encodeTerminal({ operationIdJson, seq: 123_456, outcomeJson }),
      encodeOutcomeResponse({ idJson, operationIdJson, replay: true, outcomeJson }),
      encodeOutcomeResponse({ idJson, operationIdJson, replay: false, outcomeJson, journaled: false }),
    ];
    const longest = Math.max(...frames.map((frame) => Buffer.byteLength(frameText(frame))));
    expect(longest).toBeLessThanOrEqual(MAX_TLS_FRAME_BYTES);
    expect(longest).toBeGreaterThan(MAX_TLS_FRAME_BYTES - 32);
  });
});

describe('refitOutcomeJson()', () => {
  const budgetBytes = outcomeBudgetBytes(MAX_TLS_FRAME_BYTES, '1', 'op');

  function refit(outcome: object, maxBytes: number): Record<string, unknown> {
    const result = refitOutcomeJson(JSON.stringify(outcome), maxBytes);
    if (result.status === 'too_large') throw new Error('Too large');
    expect(Buffer.byteLength(result.json)).toBeLessThanOrEqual(maxBytes);
    return JSON.parse(result.json);
  }

  function fileRead(encoding: BufferEncoding, bytes: Buffer): Record<string, unknown> {
    const contentHash = sha256Hex(bytes).slice(0, 16);
    return {
      ...{
        tool: 'files_read',
        ok: true,
        error: null,
        filePath: '/f',
        encoding,
        bytes: 9_999_999,
        offsetBytes: 0,
      },
      ...{ returnedBytes: bytes.length, contentHash, truncated: true, nextOffsetBytes: bytes.length },
      ...{ content: bytes.toString(encoding), resultFingerprint: 'f'.repeat(16) },
    };
  }

  it('hands on the same text when it fits', () => {
    const json = encodeEvidence(sampleEvidence());
    expect(refitOutcomeJson(json, budgetBytes)).toEqual({ status: 'fits', json });
  });

  it('shortens a process outcome that was made for a larger frame', () => {
    const wide = fitted(
      sampleEvidence({ stdout: '€'.repeat(MIB) }),
      outcomeBudgetBytes(MAX_FRAME_BYTES, '1', 'op'),
    );
    const outcome = refit(wide.evidence, budgetBytes);
    expect(outcome).toMatchObject({ truncated: true, transportTruncated: true });
    expect(outcome.stdoutDigest).toBe(sha256Hex(String(outcome.stdout)));
  });

  it.each([
    ['utf8', Buffer.from(`${'a'.repeat(5)}${'😀'.repeat(1000)}`)],
    ['utf8', Buffer.from('"\\\n'.repeat(1000))],
    ['latin1', Buffer.alloc(3000, 0xe9)],
    ['base64', Buffer.alloc(3000, 0xfe)],
    ['hex', Buffer.alloc(3000, 0xfe)],
  ] as const)('shortens the content of a file read in %s', (encoding, bytes) => {
    const original = fileRead(encoding, bytes);
    for (let maxBytes = 700; maxBytes < 712; maxBytes += 1) {
      const outcome = refit(original, maxBytes);
      const delivered = Buffer.from(String(outcome.content), encoding);
      expect(delivered.equals(bytes.subarray(0, delivered.length))).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(outcome))).toBeGreaterThan(maxBytes - 12);
      expect(outcome).toMatchObject({ truncated: true, transportTruncated: true, incomplete: true });
      expect(outcome).toMatchObject({
        nextOffsetBytes: null,
        returnedBytes: delivered.length,
        bytes: 9_999_999,
      });
      expect(outcome.contentHash).toBe(sha256Hex(delivered).slice(0, 16));
      expect(outcome).not.toHaveProperty('resultFingerprint');
    }
  });

  it.each([
    ['a list', { tool: 'files_list', ok: true, entries: ['x'.repeat(1000)] }],
    ['a failed read', { tool: 'files_read', ok: false, content: 'x'.repeat(1000), encoding: 'utf8' }],
    [
      'a read in an unknown encoding',
      { tool: 'files_read', ok: true, content: 'x'.repeat(1000), encoding: 'toString' },
    ],
    ['a read with a huge path', { ...fileRead('utf8', Buffer.from('abc')), filePath: 'p'.repeat(1000) }],
  ])('gives up on %s', (_name, outcome) => {
    expect(refitOutcomeJson(JSON.stringify(outcome), 500)).toEqual({ status: 'too_large' });
  });
});
