// What a scan found, for a person (a line for each node that is news) and for a program (one JSON line).

import { describeChange, type ScanFailure, type ScanOutcome } from '../octonode/scan/scan.ts';

/** Lines of stderr shown for a failure; `--json` has all that was kept. */
const MAX_STDERR_LINES = 3;

interface Shown {
  path: string;
  isCheck: boolean;
  outcome: Extract<ScanOutcome, { status: 'done' }>;
}

export function reportJson({ path, outcome: { report, hasDrift, written, refusal } }: Shown): string {
  const changed = report.changed.map(({ id, changes }) => ({
    id,
    changes: changes.map((change) => ({ ...change, text: describeChange(change) })),
  }));
  const error = refusal === undefined ? {} : { error: refusal };
  return `${JSON.stringify({ project: path, written, ...error, drift: hasDrift, ...report, changed })}\n`;
}

export function reportText({ path, isCheck, outcome }: Shown): string {
  const { report, hasDrift, written, refusal } = outcome;
  const lines = [
    ...report.added.map(({ id, source }) => line('added', id, source)),
    ...report.changed.map(({ id, changes }) => line('changed', id, changes.map(describeChange).join('; '))),
    ...report.orphaned.map(({ id, isNew }) =>
      line('orphaned', id, isNew ? 'no source describes it any more' : ''),
    ),
    ...report.failed.flatMap(failureLines),
  ];
  const counts = (['added', 'changed', 'unchanged', 'orphaned', 'failed'] as const).map(
    (kind) => `${report[kind].length} ${kind}`,
  );
  const end = written
    ? `wrote ${path}`
    : (isCheck && hasDrift) || refusal !== undefined
      ? `${path} is out of date`
      : `${path} is up to date`;
  return `${[...lines, `${counts.join(', ')}; ${end}`].join('\n')}\n`;
}

function failureLines({ source, code, message, stderrTail }: ScanFailure): string[] {
  const said = stderrTail
    .split('\n')
    .map((text) => plain(text).trimEnd())
    .filter((text) => text !== '');
  return [
    line('failed', source, `${code}: ${message}`),
    ...said.slice(-MAX_STDERR_LINES).map((text) => `           | ${text}`),
  ];
}

function line(kind: string, name: string, detail: string): string {
  return plain(`${kind.padEnd(10)} ${name}${detail === '' ? '' : `  ${detail}`}`);
}

/** What programs say may not move the cursor of whoever reads about them. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
