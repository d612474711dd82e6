// How the mistakes of a project file are told: one a line, as compilers do, so that editors can jump there.

import type { FoundProject } from '../octonode/project/find-project.ts';
import type { ProjectProblem } from '../octonode/project/project.ts';
import { UsageError } from './command.ts';
import { EXIT, type System } from './system.ts';

/** `path:line:column: message` on stderr; the exit status of a failure. */
export function reportProblems(path: string, problems: readonly ProjectProblem[], system: System): number {
  for (const { line, column, message } of problems)
    system.stderr.write(`${path}:${line}:${column}: ${message}\n`);
  return EXIT.failed;
}

/** The path of the project; undefined when there is none. Throws UsageError for one that cannot be used. */
export function usableProject(found: FoundProject): string | undefined {
  if (found.status === 'found') return found.path;
  if (found.status === 'missing') return undefined;
  if (found.status === 'foreign') {
    throw new UsageError(
      `Project file "${found.path}" belongs to another user`,
      'To use it all the same, work in its own directory',
    );
  }
  if (found.status === 'closed') {
    throw new UsageError(
      `Directory "${found.path}" cannot be looked into (${found.problem})`,
      'Work in a directory that this user may read and enter',
    );
  }
  throw new UsageError(
    `Project file "${found.path}" is ${found.problem}`,
    'Move it away or make it readable; burrow scan makes a new one',
  );
}

export function invalidProject(path: string, problems: readonly ProjectProblem[]): UsageError {
  const [first] = problems;
  return new UsageError(
    `Project file "${path}" has ${problems.length} mistake${problems.length === 1 ? '' : 's'}`,
    first === undefined ? undefined : `${path}:${first.line}:${first.column}: ${first.message}`,
  );
}
