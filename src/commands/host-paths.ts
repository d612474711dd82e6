// Where the package keeps the service of this host. With a staging root, the same places below it.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Flag, UsageError } from './command.ts';

export const UNIT = 'burrow-host-gateway.service';

export const ROOT_FLAG: Readonly<Record<string, Flag>> = {
  root: {
    type: 'string',
    valueHint: 'DIR',
    description: 'Work on the system installed below DIR, which does not run (default: this one)',
  },
};

export interface HostPaths {
  /** Undefined: the system that runs. */
  root: string | undefined;
  envFile: string;
  stateDir: string;
  socket: string;
  unitFile: string;
  /** What `host configure --run-as` writes. */
  runAsFile: string;
}

/** Throws UsageError for a root that is no directory: a slip of the hand would be a system of its own. */
export function hostPaths(root: string | boolean | string[] | undefined): HostPaths {
  const base = typeof root === 'string' && root !== '' ? root : undefined;
  if (base !== undefined && statSync(base, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(
      `Root "${base}" is not a directory that exists`,
      'Flag "--root" takes the top of an installed system',
    );
  const at = (path: string): string => (base === undefined ? path : join(base, path));
  return {
    root: base,
    envFile: at('/etc/burrow-host-gateway/gateway.env'),
    stateDir: at('/var/lib/burrow-host-gateway'),
    socket: at('/run/burrow-host-gateway/gateway.sock'),
    unitFile: at(`/lib/systemd/system/${UNIT}`),
    runAsFile: at(`/etc/systemd/system/${UNIT}.d/run-as.conf`),
  };
}
