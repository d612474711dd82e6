// From schema issues to the error on the wire: paths a person can follow, every problem at once up to a bound, and never
// a received value, which may be a secret.

import type { BaseIssue, RawCheckContext } from 'valibot';
import { issueWords } from '../support/issue-words.ts';
import { clipUtf8 } from '../support/utf8.ts';
import { MAX_ISSUE_PATH_BYTES, MAX_ISSUES } from './defaults.ts';
import { BurrowError, ERRORS, type ErrorCode } from './errors.ts';

interface Issue {
  /** Such as `params.timeoutMs`, `params.args[2]`, `params.env["my.key"]`. */
  path: string;
  message: string;
}

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * One error for all `issues`. Its code is the first of `fieldCodes` whose field has an issue, else `invalid_params`.
 * Lists at most 20 issues and says when there are more.
 */
export function paramsError(
  issues: readonly BaseIssue<unknown>[],
  fieldCodes: readonly (readonly [field: string, code: ErrorCode])[] = [],
): BurrowError {
  const fields = new Set(issues.map((issue) => issue.path?.[0]?.key));
  const code = fieldCodes.find(([field]) => fields.has(field))?.[1] ?? 'invalid_params';
  const listed = issues.slice(0, MAX_ISSUES).map(toIssue);
  if (issues.length > listed.length) {
    listed.push({ path: 'params', message: 'There are more problems' });
  }
  const first = listed[0] ?? { path: 'params', message: 'Not valid' };
  return new BurrowError(code, {
    message: `${ERRORS[code].message} (${first.path}: ${first.message})`,
    issues: listed,
  });
}

/**
 * Checks the members of an object or array by hand. A schema makes an issue for each of them, and a hostile line has
 * room for a million: here the first one beyond the listed twenty ends the check.
 */
export function checkMembers<Input, Key extends string | number>(
  context: RawCheckContext<Input>,
  members: Iterable<[key: Key, value: unknown]>,
  problemOf: (value: unknown, key: Key) => string | undefined,
): void {
  let found = 0;
  for (const [key, value] of members) {
    const message = problemOf(value, key);
    if (message === undefined) continue;
    const input = context.dataset.value;
    context.addIssue({ message, path: [{ type: 'unknown', origin: 'value', input, key, value }] });
    found += 1;
    if (found > MAX_ISSUES) return;
  }
}

function toIssue(issue: BaseIssue<unknown>): Issue {
  const path = (issue.path ?? []).reduce((text, item) => text + encodeKey(item.key), 'params');
  return { path: clipUtf8(path, MAX_ISSUE_PATH_BYTES), message: issueWords(issue) };
}

function encodeKey(key: unknown): string {
  if (typeof key === 'number') return `[${key}]`;
  // Clipped before it is quoted: a name can be as long as a line.
  const name = clipUtf8(String(key), MAX_ISSUE_PATH_BYTES);
  return PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
