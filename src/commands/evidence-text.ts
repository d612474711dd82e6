// Evidence for people: a few readable lines, and the exit status that a command deserves.

import { constants } from 'node:os';
import * as v from 'valibot';
import type { CallAnswer } from '../client/client.ts';
import { ERRORS } from '../protocol/errors.ts';
import { type ProcessEvidence, ProcessEvidenceSchema } from '../protocol/evidence.ts';
import { formatDurationMs, formatSizeBytes } from '../support/durations.ts';
import { EXIT, type OutputStream } from './system.ts';

/** Throws when a gateway sent something else: its contract is broken. */
export function readEvidence(outcome: unknown): ProcessEvidence {
  const parsed = v.safeParse(ProcessEvidenceSchema, outcome);
  if (!parsed.success)
    throw new Error('Gateway answered without process evidence; compare the versions of both ends');
  // JSON has no undefined: an optional field is there or it is not.
  return parsed.output as ProcessEvidence;
}

/** As env(1), timeout(1) and ssh(1) do: 124 timed out, 130 cancelled, 128+n for signal n, else the command's own. */
export function exitStatusOf(evidence: ProcessEvidence): number {
  if (evidence.timedOut) return EXIT.timedOut;
  if (evidence.cancelled) return EXIT.interrupted;
  // A name that this host does not know counts 0 below.
  if (evidence.signal !== null) return exitStatusOfSignal(evidence.signal as NodeJS.Signals);
  return evidence.exitCode ?? EXIT.failed;
}

/** 128+n, as a shell says it: 130 for SIGINT, 143 for SIGTERM. */
export function exitStatusOfSignal(signal: NodeJS.Signals): number {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Says why there is no evidence, and answers the exit status. */
export function reportEnd(answer: Exclude<CallAnswer, { status: 'ok' }>, stderr: OutputStream): number {
  if (answer.status === 'unreachable') {
    stderr.write(`burrow: No answer: ${answer.reason}\n`);
    return EXIT.unreachable;
  }
  const { code, message, details } = answer.error;
  stderr.write(`burrow: ${message} (${code})\n`);
  for (const issue of details.issues ?? []) stderr.write(`burrow: ${issue.path}: ${issue.message}\n`);
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS] : undefined;
  if (known !== undefined) stderr.write(`burrow: ${known.remedy}\n`);
  if (code === 'spawn_failed') return details.errno === 'ENOENT' ? EXIT.notFound : EXIT.notExecutable;
  return known?.exitStatus ?? EXIT.unreachable;
}

interface Shown {
  /** The output shown is that of the evidence, not of the events. */
  isReplay: boolean;
  /** The events said that they brought less than there was. */
  isOutputCut: boolean;
}

/** A line for each thing that the command did not choose: how it was ended, and what of its output is not there. */
export function explainEnd(evidence: ProcessEvidence, { isReplay, isOutputCut }: Shown): string {
  const { timedOut, cancelled, killed, truncated, transportTruncated } = evidence;
  const lines: string[] = [];
  if (timedOut) {
    lines.push(
      evidence.timeoutReason === 'deadlineMs'
        ? 'Ended at its deadline'
        : `Ended after ${evidence.timeoutMs} ms (raise --timeout)`,
    );
  }
  // The evidence may be shorter than what the events brought: that alone is no loss to who has read those.
  if (isOutputCut || (truncated && transportTruncated !== true)) {
    const wasTold = killed && !timedOut && !cancelled;
    lines.push(`Output was cut at the output limit${wasTold ? told(evidence) : ''} (raise --max-output)`);
  }
  if (isReplay && transportTruncated === true)
    lines.push('Output was shortened: of a finished operation no more is kept than one frame holds');
  if (evidence.invalidUtf8 === true)
    lines.push('Output was not UTF-8 text: bytes were replaced (encode binary output, such as with base64)');
  return lines.map((line) => `burrow: ${line}\n`).join('');
}

/** A signal may come to a command that is just ending by itself: only what died of one was ended by it. */
function told({ signal }: ProcessEvidence): string {
  return signal === null ? ', where the command was told to end' : ', where the command was ended';
}

/** Five lines: how it ended, when, where, as whom, and what it wrote. */
export function summarise(evidence: ProcessEvidence): string {
  const ended =
    evidence.signal === null ? `exit ${evidence.exitCode ?? 'unknown'}` : `signal ${evidence.signal}`;
  const flags = (
    ['timedOut', 'cancelled', 'truncated', 'lingering', 'invalidUtf8', 'transportTruncated'] as const
  ).filter((flag) => evidence[flag] === true);
  const lines = [
    ['ended', [ended, ...flags].join(', ')],
    ['took', `${formatDurationMs(evidence.durationMs)} from ${evidence.startedAt}`],
    [
      'ran',
      evidence.mode === 'shell'
        ? `shell: ${evidence.command}`
        : [evidence.executable, ...evidence.args].join(' '),
    ],
    [
      'in',
      `${evidence.cwd} on ${evidence.hostname} as uid ${evidence.effectiveUid}, gid ${evidence.effectiveGid}`,
    ],
    ['stdout', outputLine(evidence.stdout, evidence.stdoutDigest)],
    ['stderr', outputLine(evidence.stderr, evidence.stderrDigest)],
  ];
  return lines.map(([name, text]) => `burrow: ${name?.padEnd(6)} ${text}\n`).join('');
}

function outputLine(text: string, digest: string): string {
  return `${formatSizeBytes(Buffer.byteLength(text))}, sha256 ${digest.slice(0, 16)}…`;
}
