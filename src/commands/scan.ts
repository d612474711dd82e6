// `burrow scan`: finds the nodes of a project, records their contracts in `.octonode`, and says what is new.

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findProject, PROJECT_FILE } from '../octonode/project/project.ts';
import { type ScanOutcome, scanProject } from '../octonode/scan/scan.ts';
import { createChildEnvironment } from '../process/environment.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { countFlag, durationFlag, interruptible } from './node-options.ts';
import { ownCommand } from './own-command.ts';
import { reportProblems, usableProject } from './project-problems.ts';
import { reportJson, reportText } from './scan-report.ts';
import { createStatusLine } from './status-line.ts';
import { EXIT } from './system.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_JOBS = 16;

export const scanCommand: Command = {
  meta: { name: 'scan', description: 'Find the nodes of a project and record their contracts in .octonode' },
  args: {
    dir: {
      type: 'positional',
      description: 'The project, or a directory inside it (default: the current one)',
      required: false,
      valueHint: 'DIR',
    },
    check: { type: 'boolean', description: 'Write nothing; exit 1 when code and record differ' },
    json: { type: 'boolean', description: 'Print the report as one JSON line' },
    timeout: {
      type: 'string',
      valueHint: '10s',
      description: 'Time for each program to describe itself (default 10s)',
    },
    jobs: { type: 'string', valueHint: 'N', description: 'Most programs at once (default 16)' },
  },
  examples: [
    { command: 'burrow scan', does: 'record every node under nodes/ and of the listed sources' },
    { command: 'burrow scan --check', does: 'let CI fail when somebody forgot to' },
  ],
  run: (call) => interruptible(call.system, (signal) => scan(call, signal)),
};

async function scan(call: Call, signal: AbortSignal): Promise<number> {
  const { system, flags } = call;
  const path = projectPath(call);
  const isCheck = flags.check === true;
  const line = createStatusLine(system);
  const outcome = await scanProject({
    path,
    check: isCheck,
    env: createChildEnvironment(system.env)([]),
    own: ownCommand(),
    timeoutMs: durationFlag(flags, 'timeout') ?? DEFAULT_TIMEOUT_MS,
    jobs: countFlag(flags, 'jobs', DEFAULT_JOBS),
    signal,
    onProgress: ({ done, total, running }) => line.show(`scan ${done}/${total}  ${running.join('  ')}`),
  });
  line.clear();
  if (outcome.status === 'cancelled') return EXIT.interrupted;
  if (outcome.status === 'invalid') return reportProblems(path, outcome.problems, system);
  const shown = { path, isCheck, outcome };
  system.stdout.write(flags.json === true ? reportJson(shown) : reportText(shown));
  if (outcome.refusal !== undefined) system.stderr.write(`burrow: ${outcome.refusal}\n`);
  return isGood(outcome, isCheck) ? EXIT.done : EXIT.failed;
}

/** A program that failed is a failure of the scan, written or not; drift is one only where nothing may or can be written. */
function isGood(outcome: Extract<ScanOutcome, { status: 'done' }>, isCheck: boolean): boolean {
  const { report, hasDrift, refusal } = outcome;
  return report.failed.length === 0 && refusal === undefined && !(isCheck && hasDrift);
}

function projectPath({ positionals, system }: Call): string {
  const directory = resolve(system.cwd, positionals[0] ?? '.');
  const found = findProject(directory);
  if (found.status !== 'closed' && statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(
      `"${directory}" is no directory`,
      'Name the directory that holds nodes/ or .octonode',
    );
  return usableProject(found) ?? join(directory, PROJECT_FILE);
}
