// From schema issues to the error on the wire: paths a person can follow, every problem at once up to a bound, and never
// a received value, which may be a secret.

import type { BaseIssue } from 'valibot';
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
 * Lists at most 20 issues and counts the rest.
 */
export function paramsError(
  issues: readonly BaseIssue<unknown>[],
  fieldCodes: readonly (readonly [field: string, code: ErrorCode])[] = [],
): BurrowError {
  const fields = new Set(issues.map((issue) => issue.path?.[0]?.key));
  const code = fieldCodes.find(([field]) => fields.has(field))?.[1] ?? 'invalid_params';
  const listed = issues.slice(0, MAX_ISSUES).map(toIssue);
  if (issues.length > listed.length) {
    listed.push({ path: 'params', message: `${issues.length - listed.length} more problems` });
  }
  const first = listed[0] ?? { path: 'params', message: 'Not valid' };
  return new BurrowError(code, {
    message: `${ERRORS[code].message} (${first.path}: ${first.message})`,
    issues: listed,
  });
}

function toIssue(issue: BaseIssue<unknown>): Issue {
  const path = (issue.path ?? []).reduce((text, item) => text + encodeKey(item.key), 'params');
  return { path: clipUtf8(path, MAX_ISSUE_PATH_BYTES), message: issue.message };
}

function encodeKey(key: unknown): string {
  if (typeof key === 'number') return `[${key}]`;
  // Clipped before it is quoted: a name can be as long as a line.
  const name = clipUtf8(String(key), MAX_ISSUE_PATH_BYTES);
  return PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
