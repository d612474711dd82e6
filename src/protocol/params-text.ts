// The text rules that every method's parameters share: what the operating system and UTF-8 can carry.

import * as v from 'valibot';
import { MAX_OPERATION_ID_CHARACTERS } from './defaults.ts';

/** A string that can be handed to the operating system: no zero bytes, no lone surrogates. */
export const SystemTextSchema = v.pipe(
  v.string('Expected a string'),
  v.check((text) => !text.includes('\0'), 'Expected text without zero bytes'),
  v.check((text) => text.isWellFormed(), 'Expected well-formed text without lone surrogates'),
);

/** Characters are UTF-16 units here. */
export const OperationIdSchema = v.pipe(
  v.string('Expected a string'),
  v.maxLength(MAX_OPERATION_ID_CHARACTERS, `Expected at most ${MAX_OPERATION_ID_CHARACTERS} characters`),
  v.check((text) => text.isWellFormed(), 'Expected well-formed text without lone surrogates'),
);
