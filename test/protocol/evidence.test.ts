import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { encodeEvidence, type ProcessEvidence, ProcessEvidenceSchema } from '../../src/protocol/evidence.ts';
import { sampleEvidence } from './sample-evidence.ts';

describe('ProcessEvidenceSchema', () => {
  it('knows every field of the type', () => {
    const all: Required<ProcessEvidence> = {
      ...sampleEvidence(),
      ...{ stdoutBytes: 6, stderrBytes: 0, invalidUtf8: true, lingering: true, transportTruncated: true },
    };
    expect(Object.keys(all).toSorted()).toEqual(Object.keys(ProcessEvidenceSchema.entries).toSorted());
    expect(v.parse(ProcessEvidenceSchema, all)).toEqual(all);
  });

  it.each([
    { stdoutDigest: 'ABC' },
    { exitCode: '0' },
    { lingering: false },
    { mode: 'pty' },
    { timeoutReason: 'cancel' },
    { startedAt: 'yesterday' },
  ])('refuses %j', (change) => {
    expect(v.is(ProcessEvidenceSchema, { ...sampleEvidence(), ...change })).toBe(false);
  });
});

describe('encodeEvidence()', () => {
  it('writes what the schema reads', () => {
    const evidence = sampleEvidence({
      signal: 'SIGTERM',
      exitCode: null,
      timedOut: true,
      timeoutReason: 'timeoutMs',
    });
    expect(v.parse(ProcessEvidenceSchema, JSON.parse(encodeEvidence(evidence)))).toEqual(evidence);
  });
});
