// An error of the operating system as a sentence for a person: what could not be done, to which path, why, and the errno.

import { getSystemErrorMessage } from 'node:util';

/** System calls whose names say little; any other stands for itself. */
const ACTIONS: Readonly<Record<string, string>> = {
  access: 'reach',
  lstat: 'look at',
  mkdir: 'make',
  rmdir: 'remove',
  scandir: 'read',
  stat: 'look at',
  unlink: 'remove',
};

/** Undefined for an error that no system call gave. A sentence that ends in its errno stays as it is. */
export function systemErrorSentence(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, errno, path, dest, address, port }: NodeJS.ErrnoException & Place = error;
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return undefined;
  if (error.message.endsWith(`(${code})`)) return error.message;
  if (syscall === undefined) return undefined;
  const action = Object.hasOwn(ACTIONS, syscall) ? ACTIONS[syscall] : syscall;
  const where =
    path ?? (address === undefined ? undefined : `${address}${port === undefined ? '' : `:${port}`}`);
  const object = where === undefined ? '' : ` "${where}"${dest === undefined ? '' : ` to "${dest}"`}`;
  const reason = errno === undefined ? '' : `: ${getSystemErrorMessage(errno)}`;
  return `Cannot ${action}${object}${reason} (${code})`;
}

interface Place {
  dest?: string;
  address?: string;
  port?: number;
}
