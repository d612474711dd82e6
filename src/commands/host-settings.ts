// The files that `burrow host configure` writes: the settings, and as whom the service runs. Each is replaced whole. Where the
// caller may not read or write, the error says who may.

import { chownSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../support/atomic-file.ts';
import { makeDirectory } from '../support/make-directory.ts';
import { UsageError } from './command.ts';
import { type HostPaths, UNIT } from './host-paths.ts';

/** The text of the settings; empty where there are none yet. */
export function readSettings({ envFile, root }: HostPaths): Promise<string> {
  return touching({ path: envFile, root }, () => readText(envFile));
}

/** Keeps the owner; a new file is for root and, where it exists, the group of the directory. */
export function writeSettings({ envFile, root }: HostPaths, text: string): Promise<void> {
  return touching({ path: envFile, root }, async () => {
    await makeDirectory(dirname(envFile), 0o750);
    const owner = statSync(envFile, { throwIfNoEntry: false }) ?? statSync(dirname(envFile));
    await writeFileAtomic(envFile, text, { mode: 0o640 });
    chownSync(envFile, owner.uid, owner.gid);
  });
}

/** The user of the package has no file. Throws UsageError for what is no name of a user. */
export function writeRunAs({ runAsFile, root }: HostPaths, user: string): Promise<void> {
  return touching({ path: runAsFile, root }, async () => {
    if (user === '' || user === 'burrow') return rmSync(runAsFile, { force: true });
    if (!/^[a-z_][a-z0-9_-]*\$?$/.test(user)) throw new UsageError(`User "${user}" is not a name of a user`);
    await makeDirectory(dirname(runAsFile));
    const lines = [
      '# Written by burrow host configure --run-as. The socket stays for group burrow: whoever is in it runs commands as this user.',
      `# ${UNIT} is restarted by burrow host connect.`,
      '[Service]',
      `User=${user}`,
    ];
    await writeFileAtomic(runAsFile, `${lines.join('\n')}\n`, { mode: 0o644 });
  });
}

async function touching<T>(
  { path, root }: { path: string; root: string | undefined },
  act: () => T | Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    const advice =
      root === undefined
        ? 'run this as root, or with --root DIR for a system below DIR'
        : 'run this as its owner';
    const message = `Cannot change "${path}": ${advice} (${code})`;
    throw Object.assign(new Error(message, { cause: error }), { code });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
