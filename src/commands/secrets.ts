// Protected values for one operation: named on the command line, read from the environment or a file, so that no value ever
// stands in an argument list, which every user of the host can read.

import { readFileSync } from 'node:fs';
import { type Call, type Flag, UsageError } from './command.ts';
import type { Target } from './target.ts';

/** The environment of a process takes no more in one piece (Linux: MAX_ARG_STRLEN). */
const MAX_VALUE_BYTES = 128 * 1024;

export const SECRET_FLAG: Readonly<Record<string, Flag>> = {
  secret: {
    type: 'string',
    valueHint: 'NAME[=@FILE]',
    multiple: true,
    description:
      'Give the command the variable NAME of this environment (or the content of FILE) as a protected value, masked in the output; needs --controller',
  },
};

/** The params that deliver them; none when no flag was given. */
export function protectedParams({ flags, system }: Call, target: Target): { protectedValues?: object } {
  const given = flags['secret'];
  if (!Array.isArray(given)) return {};
  if (target.kind !== 'controller') {
    throw new UsageError(
      'Flag "--secret" needs --controller',
      'Values are protected on the way to a host only',
    );
  }
  const values: Record<string, string> = Object.create(null);
  for (const text of given) {
    const [, name, path] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=@(.+))?$/.exec(text) ?? [];
    // Not quoted: who wrote a value here should not see it in a log as well.
    if (name === undefined)
      throw new UsageError('Flag "--secret" takes NAME or NAME=@FILE', 'A value itself is never an argument');
    values[name] = path === undefined ? fromEnvironment(name, system.env[name]) : fromFile(path);
  }
  return { protectedValues: values };
}

function fromEnvironment(name: string, value: string | undefined): string {
  if (value === undefined || value === '')
    throw new UsageError(`Variable "${name}" is not set: --secret reads it`);
  return value;
}

/** Without the line end that editors and `echo` leave. */
function fromFile(path: string): string {
  const value = readText(path).replace(/\r?\n$/, '');
  if (value === '') throw new UsageError(`File "${path}" is empty: --secret reads a value from it`);
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
    throw new UsageError(`File "${path}" is over ${MAX_VALUE_BYTES} bytes, more than a variable can hold`);
  return value;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `File "${path}" of --secret cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
