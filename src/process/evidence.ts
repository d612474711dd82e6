// What is known at the end of a process, put into the form of the protocol. Decides nothing.

import type { ProcessEvidence } from '../protocol/evidence.ts';
import type { CapturedStream } from './capture.ts';

export type StopReason = 'timeoutMs' | 'deadlineMs' | 'cancelled';

export interface EvidenceIdentity {
  /** Effective; null where the system has none. */
  uid: number | null;
  gid: number | null;
  /** Asked each time: a host can be renamed while the daemon runs. */
  hostname(): string;
}

/** The part of the request that is repeated in the evidence. */
export interface EvidenceRequest {
  mode: 'exec' | 'shell';
  executable: string | null;
  args: readonly string[];
  command: string | null;
  cwd: string;
  timeoutMs: number;
  deadlineMs: number | null;
}

export interface Ending {
  startedAtWallMs: number;
  endedAtWallMs: number;
  /** Monotonic. */
  durationMs: number;
  /** Null: not waited for when the process was settled, or never started. */
  exit: { exitCode: number | null; signal: NodeJS.Signals | null } | null;
  /** The first reason to stop it; null when it ended by itself. */
  stopReason: StopReason | null;
  wasSignalled: boolean;
  hasOverflowed: boolean;
  /** Its pipes were still held open. */
  isLingering: boolean;
  stdout: CapturedStream;
  stderr: CapturedStream;
}

export function createEvidence(
  request: EvidenceRequest,
  ending: Ending,
  identity: EvidenceIdentity,
): ProcessEvidence {
  const { stdout, stderr, stopReason } = ending;
  const isCancelled = stopReason === 'cancelled';
  // More than one frame's worth was delivered and not kept: no frame could have carried it.
  const isShortened = stdout.isShortened || stderr.isShortened;
  const evidence: ProcessEvidence = {
    type: 'process.result',
    startedAt: new Date(ending.startedAtWallMs).toISOString(),
    endedAt: new Date(ending.endedAtWallMs).toISOString(),
    durationMs: Math.round(ending.durationMs),
    cwd: request.cwd,
    effectiveUid: identity.uid,
    effectiveGid: identity.gid,
    hostname: identity.hostname(),
    mode: request.mode,
    executable: request.executable,
    args: [...request.args],
    command: request.command,
    exitCode: ending.exit?.exitCode ?? null,
    signal: ending.exit?.signal ?? null,
    cancelled: isCancelled,
    killed: ending.wasSignalled,
    truncated: ending.hasOverflowed || isShortened,
    timedOut: stopReason !== null && !isCancelled,
    timeoutReason: isCancelled ? null : stopReason,
    timeoutMs: request.timeoutMs,
    deadlineMs: request.deadlineMs,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutDigest: stdout.digest,
    stderrDigest: stderr.digest,
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
  };
  if (stdout.hasInvalidInput || stderr.hasInvalidInput) evidence.invalidUtf8 = true;
  if (ending.isLingering) evidence.lingering = true;
  if (isShortened) evidence.transportTruncated = true;
  return evidence;
}
