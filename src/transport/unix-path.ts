// Where a unix socket may be put: makes sure of its directory and removes a socket that nobody answers on.

import { lstatSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { ConfigurationError } from '../support/configuration-error.ts';

/** sun_path of unix(7), less its zero byte: a longer path would be cut off without a word. */
const MAX_PATH_BYTES = 107;
const WRITABLE_BY_OTHERS = 0o002;
const STICKY = 0o1000;

/** On return `path` is free. Throws ConfigurationError when it cannot be, or lies where strangers could take its place. */
export async function clearSocketPath(path: string): Promise<void> {
  const lengthBytes = Buffer.byteLength(path);
  if (lengthBytes > MAX_PATH_BYTES) {
    throw new ConfigurationError(
      `Socket path "${path}" has ${lengthBytes} bytes, the system takes ${MAX_PATH_BYTES}: choose a shorter one`,
    );
  }
  checkDirectory(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new ConfigurationError(`Socket path "${path}" is taken by a file that is not a socket: remove it`);
  }
  if (await isAnswered(path)) {
    throw new ConfigurationError(`Socket "${path}" is in use: another daemon is listening on it`);
  }
  unlinkSync(path);
}

function checkDirectory(directory: string): void {
  const found = readDirectory(directory);
  const self = process.geteuid?.() ?? 0;
  if (found.uid !== self && found.uid !== 0) {
    throw new ConfigurationError(
      `Directory "${directory}" of the socket belongs to user ${found.uid}, not to this one (${self}): use a directory of your own`,
    );
  }
  const isShared = (found.mode & WRITABLE_BY_OTHERS) !== 0;
  if (isShared && (found.mode & STICKY) === 0) {
    throw new ConfigurationError(
      `Directory "${directory}" of the socket can be written to by everyone: use a directory of your own`,
    );
  }
}

function readDirectory(directory: string): Stats {
  try {
    const found = statSync(directory);
    if (found.isDirectory()) return found;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`Cannot use directory "${directory}" for the socket: ${reason}`, error);
  }
  throw new ConfigurationError(`Path "${directory}" of the socket is not a directory`);
}

/** Whether a server lives behind the socket. One that cannot be asked counts as living: only a refusal is proof. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}
