// One plain process evidence for the tests, with the fields that a test cares about replaced.
import { sha256Hex } from '../../src/protocol/digest.ts';
import type { ProcessEvidence } from '../../src/protocol/evidence.ts';

export function sampleEvidence(changes: Partial<ProcessEvidence> = {}): ProcessEvidence {
  const stdout = changes.stdout ?? 'hello\n';
  const stderr = changes.stderr ?? '';
  return {
    ...{ type: 'process.result', startedAt: '2026-01-02T03:04:05.678Z', endedAt: '2026-01-02T03:04:05.690Z' },
    ...{
      durationMs: 12.5,
      cwd: '/srv',
      effectiveUid: 1000,
      effectiveGid: 1000,
      hostname: 'host',
      mode: 'exec',
    },
    ...{ executable: 'echo', args: ['hello'], command: null, exitCode: 0, signal: null, cancelled: false },
    ...{ killed: false, truncated: false, timedOut: false, timeoutReason: null, timeoutMs: 30_000 },
    ...{ deadlineMs: null, stdout, stderr, stdoutDigest: sha256Hex(stdout), stderrDigest: sha256Hex(stderr) },
    ...{ stdoutBytes: Buffer.byteLength(stdout), stderrBytes: Buffer.byteLength(stderr) },
    ...changes,
  };
}
