// Tells a path that was named by mistake from a disk that is full, read-only or broken: no waiting mends the first.
import { ConfigurationError } from '../../../support/configuration-error.ts';
import { errnoOf } from '../journal-fs.ts';

const REASONS: Record<string, string> = {
  ENOTDIR:
    'it, or what its path leads through, is not a directory; name one that is, or that does not exist yet',
  EACCES: 'permission to make or enter it is denied; name another, or give it to the user of the daemon',
  EPERM: 'making or entering it is not permitted; name another, or give it to the user of the daemon',
  ELOOP: 'its path leads through links in a circle; name another',
  ENAMETOOLONG: 'its path is longer than the file system takes; name another',
};

/** What to throw in place of `error`, which came of making, entering or looking for `directory`, a phrase; else `error` itself. */
export function refusalOf(error: unknown, directory: string): unknown {
  const code = errnoOf(error) ?? '';
  const reason = REASONS[code];
  return reason === undefined
    ? error
    : new ConfigurationError(`Cannot use ${directory}: ${reason} (${code})`, error);
}
