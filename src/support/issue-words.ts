// What is wrong with a value, in words for a person: the schema library's own are for programmers. A received value is
// never repeated, for it may be a secret.

import type { BaseIssue } from 'valibot';

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  loose_object: 'an object',
  strict_object: 'an object',
  record: 'an object',
};

/** A sentence such as `Expected a list, not a number`. A message that a schema of ours brings along stays as it is. */
export function issueWords(issue: BaseIssue<unknown>): string {
  const { type, input, message, requirement } = issue;
  if (!message.startsWith('Invalid ')) return message;
  if (input === undefined) return 'Is missing';
  // A variant that is no object at all says that it expected one.
  const kind = issue.expected === 'Object' ? 'an object' : KINDS[type];
  if (kind !== undefined) return `Expected ${kind}, not ${kindOf(input)}`;
  if (type === 'literal' || type === 'picklist' || type === 'variant')
    return `Expected ${choices(issue.expected)}`;
  if (type === 'non_empty') return 'May not be empty';
  if (type === 'max_length') return `Has more than ${requirement} characters`;
  if (type === 'min_value') return `Expected at least ${requirement}`;
  if (type === 'max_value') return `Expected at most ${requirement}`;
  if (type === 'integer') return 'Expected a whole number';
  return 'Is not valid';
}

/** `("a" | "b" | "c")` as `"a", "b" or "c"`. */
function choices(expected: string | null): string {
  const names = (expected ?? '').replace(/^\(|\)$/g, '').split(' | ');
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return KINDS[typeof value] ?? 'a value of another kind';
}
