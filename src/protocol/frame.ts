// Makes an outcome fit one frame: text is shortened on a character boundary with honest flags and digests, everything else
// is left whole or refused. The journal and both envelopes carry the same bounded outcome.

import { sha256Hex } from './digest.ts';
import { encodeOutcomeResponse, encodeTerminal, frameText } from './envelopes.ts';
import { encodeEvidence, type ProcessEvidence } from './evidence.ts';
import { type FileReadOutcome, isFileRead, shortenFileRead } from './file-read.ts';
import { cutToEncodedBytes, encodedBytes } from './shorten.ts';

/** The smaller stream keeps this much, where there is room, however large the other is: it is often the error message. */
const MIN_SHARE_BYTES = 1_024;
const NO_DIGEST = '0'.repeat(64);

/** Bytes that each stream really had, when the evidence holds only the beginning of them. */
export interface OutputTotals {
  stdoutTotalBytes?: number;
  stderrTotalBytes?: number;
}

export type FittedEvidence =
  | { status: 'fits'; json: string; evidence: ProcessEvidence }
  | { status: 'too_large' };

export type FittedOutcome = { status: 'fits'; json: string } | { status: 'too_large' };

/**
 * How many bytes of outcome a frame of `maxFrameBytes` can carry for this request. The larger of the terminal event and
 * the response decides, since both carry the same outcome.
 */
export function outcomeBudgetBytes(maxFrameBytes: number, idJson: string, operationId: string): number {
  const operationIdJson = JSON.stringify(operationId);
  const outcomeJson = '';
  const terminal = encodeTerminal({ operationIdJson, seq: Number.MAX_SAFE_INTEGER, outcomeJson });
  const response = encodeOutcomeResponse({
    idJson,
    operationIdJson,
    replay: false,
    outcomeJson,
    journaled: false,
  });
  return (
    maxFrameBytes - Math.max(Buffer.byteLength(frameText(terminal)), Buffer.byteLength(frameText(response)))
  );
}

/**
 * The evidence as JSON of at most `maxBytes`. When it is longer, stdout and stderr are shortened in proportion to their
 * encoded size, with `truncated`, `transportTruncated` and the digests of what is left. Evidence that holds only the
 * beginning of its output (`transportTruncated` is set already) is shared out by `totals`, its own byte counts unless
 * given. `too_large` when the rest alone (args, paths) does not fit.
 */
export function fitEvidence(
  evidence: ProcessEvidence,
  maxBytes: number,
  totals = totalsOf(evidence),
): FittedEvidence {
  if (evidence.stdout.length + evidence.stderr.length <= maxBytes) {
    const json = encodeEvidence(evidence);
    if (fits(json, maxBytes)) return { status: 'fits', json, evidence };
  }
  const bare: ProcessEvidence = {
    ...evidence,
    truncated: true,
    stdout: '',
    stderr: '',
    stdoutDigest: NO_DIGEST,
    stderrDigest: NO_DIGEST,
    transportTruncated: true,
  };
  const roomBytes = maxBytes - Buffer.byteLength(encodeEvidence(bare));
  if (roomBytes < 0) return { status: 'too_large' };
  const stdoutRoomBytes = stdoutShare(evidence, roomBytes, totals);
  const stdout = cutToEncodedBytes(evidence.stdout, stdoutRoomBytes);
  const stderr = cutToEncodedBytes(evidence.stderr, roomBytes - stdoutRoomBytes);
  const shortened: ProcessEvidence = {
    ...bare,
    stdout,
    stderr,
    stdoutDigest: sha256Hex(stdout),
    stderrDigest: sha256Hex(stderr),
  };
  return { status: 'fits', json: encodeEvidence(shortened), evidence: shortened };
}

/**
 * A recorded outcome for a frame that may be smaller than the one it was made for. Process outcomes and the content of
 * file reads are shortened; other outcomes that are too long, lists above all, are `too_large`.
 */
export function refitOutcomeJson(outcomeJson: string, maxBytes: number): FittedOutcome {
  if (fits(outcomeJson, maxBytes)) return { status: 'fits', json: outcomeJson };
  const outcome: unknown = JSON.parse(outcomeJson);
  if (isProcessEvidence(outcome)) return fitEvidence(outcome, maxBytes);
  if (isFileRead(outcome)) return fitFileRead(outcome, maxBytes);
  return { status: 'too_large' };
}

function fitFileRead(outcome: FileReadOutcome, maxBytes: number): FittedOutcome {
  const shortened = shortenFileRead(outcome, maxBytes);
  return shortened === undefined
    ? { status: 'too_large' }
    : { status: 'fits', json: JSON.stringify(shortened) };
}

function totalsOf(evidence: ProcessEvidence): OutputTotals {
  if (evidence.transportTruncated !== true) return {};
  return { stdoutTotalBytes: evidence.stdoutBytes ?? 0, stderrTotalBytes: evidence.stderrBytes ?? 0 };
}

/** Room for stdout out of `roomBytes`; what is left belongs to stderr. */
function stdoutShare(evidence: ProcessEvidence, roomBytes: number, totals: OutputTotals): number {
  // Most commands write to one stream: there is nothing to share, and no need to measure.
  if (evidence.stderr === '') return roomBytes;
  if (evidence.stdout === '') return 0;
  const stdoutBytes = encodedBytes(evidence.stdout);
  const stderrBytes = encodedBytes(evidence.stderr);
  const stdoutWeight = scaled(stdoutBytes, evidence.stdout, totals.stdoutTotalBytes);
  const stderrWeight = scaled(stderrBytes, evidence.stderr, totals.stderrTotalBytes);
  const floorBytes = Math.min(MIN_SHARE_BYTES, Math.floor(roomBytes / 2));
  const lowest = Math.min(stdoutBytes, floorBytes);
  const highest = roomBytes - Math.min(stderrBytes, floorBytes);
  const proportional = Math.floor((roomBytes * stdoutWeight) / Math.max(1, stdoutWeight + stderrWeight));
  const share = Math.min(highest, Math.max(lowest, proportional));
  // What one stream does not need goes to the other.
  return Math.min(stdoutBytes, Math.max(share, roomBytes - stderrBytes));
}

/** The encoded size the whole stream would have, from the part that was kept. */
function scaled(keptEncodedBytes: number, kept: string, totalBytes = 0): number {
  if (kept === '') return 0;
  return keptEncodedBytes * Math.max(1, totalBytes / Buffer.byteLength(kept));
}

function fits(json: string, maxBytes: number): boolean {
  // A UTF-16 unit takes one to three bytes: most texts are decided without a count.
  return json.length <= maxBytes && (json.length * 3 <= maxBytes || Buffer.byteLength(json) <= maxBytes);
}

/** The journal holds only what this gateway wrote; the tag tells which kind it is. */
function isProcessEvidence(outcome: unknown): outcome is ProcessEvidence {
  return (
    typeof outcome === 'object' && outcome !== null && 'type' in outcome && outcome.type === 'process.result'
  );
}
