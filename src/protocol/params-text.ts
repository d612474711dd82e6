// The text rules that every method's parameters share: what the operating system and UTF-8 can carry.

import * as v from 'valibot';
import { MAX_OPERATION_ID_CHARACTERS } from './defaults.ts';

/** A string that can be handed to the operating system: no zero bytes, no lone surrogates. */
export const SystemTextSchema = v.pipe(
  v.string('Expected a string'),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? systemTextProblem(dataset.value) : undefined;
    if (message !== undefined) addIssue({ message });
  }),
);

export function systemTextProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'Expected a string';
  if (value.includes('\0')) return 'Expected text without zero bytes';
  return value.isWellFormed() ? undefined : 'Expected well-formed text without lone surrogates';
}

/** Characters are UTF-16 units here. */
export const OperationIdSchema = v.pipe(
  v.string('Expected a string'),
  v.maxLength(MAX_OPERATION_ID_CHARACTERS, `Expected at most ${MAX_OPERATION_ID_CHARACTERS} characters`),
  v.check((text) => text.isWellFormed(), 'Expected well-formed text without lone surrogates'),
);
