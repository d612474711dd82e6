// `burrow host pairing-code` and `burrow host unpair`: what an operator of this host tells the controller's, and how this host
// forgets its controller. The identity of the host stays, so that the controller knows it again.

import { lstatSync, readFileSync, statSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { writeFileAtomic } from '../support/atomic-file.ts';
import {
  CONSUMED_FILE,
  IDENTITY_FILE,
  NodeIdentitySchema,
  PAIRING_CODE_FILE,
  type StateFiles,
  stateFilesIn,
  TRUST_FILE,
} from '../transport/tls/state-files.ts';
import type { Call, Command } from './command.ts';
import { setEnvValue } from './host-env-file.ts';
import { type HostPaths, hostPaths, ROOT_FLAG, UNIT } from './host-paths.ts';
import { createSystemctl, isBooted, readUnit } from './host-systemctl.ts';
import { EXIT, type System } from './system.ts';

const PairingCodeSchema = v.looseObject({
  gatewayId: v.string(),
  pairingCode: v.string(),
  updatedAt: v.string(),
});

export const hostPairingCodeCommand: Command = {
  meta: { name: 'pairing-code', description: 'Print the code that an operator of the controller approves' },
  args: {
    json: { type: 'boolean', description: 'Print {"gatewayId","pairingCode","updatedAt"}' },
    ...ROOT_FLAG,
  },
  examples: [
    {
      command: 'burrow host pairing-code',
      does: 'print XXXX-XXXX-XXXX; exit 1 when nothing waits for approval',
    },
    { command: 'burrow host pairing-code --json', does: 'print code, host and time' },
  ],
  async run({ flags, system }) {
    const { stateDir } = hostPaths(flags['root']);
    const code = readPairingCode(stateDir);
    if (code === undefined) {
      system.stderr.write('burrow: No pairing waits for approval. How it stands: burrow host status\n');
      return EXIT.failed;
    }
    system.stdout.write(`${flags['json'] === true ? JSON.stringify(code) : code.pairingCode}\n`);
    return EXIT.done;
  },
};

export const hostUnpairCommand: Command = {
  meta: { name: 'unpair', description: 'Forget the controller, so that the host pairs or enrolls anew' },
  args: ROOT_FLAG,
  examples: [
    { command: 'burrow host unpair', does: 'forget the controller and, when the service runs, restart it' },
    { command: 'burrow host unpair --root /mnt/image', does: 'do it in a system that does not run' },
  ],
  run: unpair,
};

/** Undefined when no pairing waits. Throws ConfigurationError when the file cannot be read. */
export function readPairingCode(stateDir: string): v.InferOutput<typeof PairingCodeSchema> | undefined {
  if (lstatSync(stateDir, { throwIfNoEntry: false }) === undefined) return undefined;
  return stateFilesIn(stateDir).read(PAIRING_CODE_FILE, PairingCodeSchema);
}

async function unpair({ flags, system }: Call): Promise<number> {
  const paths = hostPaths(flags['root']);
  const systemctl = createSystemctl(system);
  const isRunning = paths.root === undefined && isBooted() && (await readUnit(systemctl)).active === 'active';
  // It holds what it knows in memory, and would write it back.
  if (isRunning) await systemctl('stop', UNIT);
  const forgotten = [...(await forget(paths)), ...(await takeOutToken(paths))];
  if (isRunning) await systemctl('start', UNIT);
  return report(forgotten, system);
}

/** Names what was forgotten. */
async function forget({ stateDir }: HostPaths): Promise<string[]> {
  if (lstatSync(stateDir, { throwIfNoEntry: false }) === undefined) return [];
  const files = stateFilesIn(stateDir);
  const forgotten: string[] = [];
  // The mark of a used token goes as well: a new one may enroll this host.
  for (const name of [TRUST_FILE, CONSUMED_FILE, PAIRING_CODE_FILE]) {
    if (!files.has(name)) continue;
    await files.remove(name);
    forgotten.push(name);
  }
  if (await forgetPins(files, stateDir)) forgotten.push('pinned controller key and certificate');
  return forgotten;
}

/** A token that was used once would enroll this host again, unasked. */
async function takeOutToken({ envFile }: HostPaths): Promise<string[]> {
  const text =
    lstatSync(envFile, { throwIfNoEntry: false }) === undefined ? '' : readFileSync(envFile, 'utf8');
  const without = setEnvValue(text, 'BURROW_GATEWAY_ENROLLMENT_TOKEN', undefined);
  if (without === text) return [];
  const { uid, gid, mode } = statSync(envFile);
  await writeFileAtomic(envFile, without, { mode: mode & 0o777 });
  await chown(envFile, uid, gid);
  return ['enrollment token of the env file'];
}

async function forgetPins(files: StateFiles, stateDir: string): Promise<boolean> {
  const identity = files.read(IDENTITY_FILE, NodeIdentitySchema);
  if (identity === undefined) return false;
  const { controllerPublicKey, controllerTlsFingerprint, ...rest } = identity;
  if (!controllerPublicKey && !controllerTlsFingerprint) return false;
  const path = join(stateDir, IDENTITY_FILE);
  const { uid, gid } = lstatSync(path);
  await files.write(IDENTITY_FILE, rest);
  // Written by root, it is still the service's.
  await chown(path, uid, gid);
  return true;
}

function report(forgotten: readonly string[], system: System): number {
  const text =
    forgotten.length === 0 ? 'There was no controller to forget' : `Forgotten: ${forgotten.join(', ')}`;
  system.stdout.write(`${text}\n`);
  system.stderr.write('At the controller: burrow controller revoke ID\n');
  return EXIT.done;
}
