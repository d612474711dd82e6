// Discovery: finds every node of a project, asks each what it is, and records the answers in `.octonode`. It promises that
// no program can cost more than its own line of the report, that only signatures move in the file, and that a scan which
// finds nothing new writes nothing.

import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import {
  commandOf,
  editProject,
  type NodeEntry,
  newProjectText,
  type ParsedProject,
  type ProjectProblem,
  parseProject,
  saveProject,
} from '../project/project.ts';
import { compare, type ScanReport } from './compare.ts';
import { type DescribeOptions, describeSources } from './describe-sources.ts';
import { collectSources, MAX_SOURCES, type Source } from './sources.ts';

export type { ScanFailure, ScanReport } from './compare.ts';
export { describeChange } from './signature.ts';

export interface ScanOptions extends Omit<DescribeOptions, 'directory'> {
  /** The project file; made when it is not there. */
  path: string;
  /** Report only. */
  check: boolean;
}

export type ScanOutcome =
  | {
      status: 'done';
      report: ScanReport;
      hasDrift: boolean;
      written: boolean;
      /** A sentence about why the file could not be written, though there was something to write. */
      refusal?: string;
    }
  | { status: 'invalid'; problems: ProjectProblem[] }
  | { status: 'cancelled' };

/** Throws the system's error when the file cannot be read. What was found is reported also when the file cannot be written. */
export async function scanProject(options: ScanOptions): Promise<ScanOutcome> {
  const directory = dirname(options.path);
  const before = await readProject(options.path, directory);
  if (before.status === 'invalid') return before;
  const { sources, isCut } = await collectSources(directory, before.parsed.content.sources ?? []);
  const ordered = unrecordedFirst(sources, before.parsed.content.nodes ?? []);
  const descriptions = await describeSources(ordered, { ...options, directory });
  if (options.signal.aborted) return { status: 'cancelled' };

  // Read again: describing takes seconds, and what a person saved meanwhile must not be lost.
  const now = await readProject(options.path, directory);
  if (now.status === 'invalid') return now;
  const { report, edits } = compare(directory, now.parsed.content.nodes ?? [], descriptions);
  if (isCut) report.failed.push(tooManySources());
  const hasDrift = edits.length > 0;
  if (options.check || !hasDrift) return { status: 'done', report, hasDrift, written: false };
  const text = await editProject(now.parsed, edits);
  try {
    const written = await saveProject(options.path, now.mark + text);
    return { status: 'done', report, hasDrift, written };
  } catch (error) {
    const refusal = refusalOf(error, options.path);
    return { status: 'done', report, hasDrift, written: false, refusal };
  }
}

/** Throws what no system call gave. */
function refusalOf(error: unknown, path: string): string {
  const isOfSystem = error instanceof Error && 'errno' in error && 'code' in error;
  if (!isOfSystem || typeof error.errno !== 'number') throw error;
  return `Cannot write "${path}": ${getSystemErrorMessage(error.errno)} (${error.code})`;
}

type Reading =
  | { status: 'ok'; parsed: ParsedProject; mark: string }
  | { status: 'invalid'; problems: ProjectProblem[] };

async function readProject(path: string, directory: string): Promise<Reading> {
  const whole = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return newProjectText(directory);
    throw error;
  });
  // A byte order mark is kept, and is no part of the text.
  const mark = whole.startsWith('\uFEFF') ? '\uFEFF' : '';
  const reading = await parseProject(whole.slice(mark.length));
  return reading.status === 'ok' ? { ...reading, mark } : reading;
}

/** What never described itself before may hang: begun first, its deadline runs beside the work on the others. */
function unrecordedFirst(sources: readonly Source[], entries: readonly NodeEntry[]): Source[] {
  const recorded = new Set(entries.map(({ signature }) => JSON.stringify(commandOf(signature))));
  const isRecorded = ({ command }: Source): boolean => recorded.has(JSON.stringify(command));
  return [...sources.filter((source) => !isRecorded(source)), ...sources.filter(isRecorded)];
}

function tooManySources(): ScanReport['failed'][number] {
  const message = `Project has more than ${MAX_SOURCES} sources; the rest was not looked at`;
  return { source: 'sources', id: undefined, code: 'VALIDATION_ERROR', message, stderrTail: '' };
}
