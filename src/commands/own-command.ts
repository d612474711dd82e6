// How this very program is started again.

import { isSea } from 'node:sea';

export function ownCommand(): [string, ...string[]] {
  const script = process.argv[1];
  return isSea() || script === undefined ? [process.execPath] : [process.execPath, script];
}
