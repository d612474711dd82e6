// The controller's own Ed25519 key, by which paired gateways know it: made once, kept in the state directory, never changed.
// Gateways pin it; who removes the file has to pair every host again.

import * as v from 'valibot';
import { createIdentityKeys, type IdentityKeys, isSamePublicKey } from '../protocol/auth.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { Clock } from '../support/clock.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import type { StateFiles } from '../transport/tls/state-files.ts';

const IDENTITY_FILE = 'controller-identity.json';

const IdentitySchema = v.looseObject({
  version: v.literal(1),
  publicKey: v.pipe(v.string(), v.minLength(1)),
  privateKey: v.pipe(v.string(), v.minLength(1)),
  createdAt: v.optional(v.string()),
});

/** Throws ConfigurationError when the file is damaged: a new key in its place would lock every paired gateway out. */
export async function openIdentity(files: StateFiles, clock: Clock): Promise<IdentityKeys> {
  const found = files.read(IDENTITY_FILE, IdentitySchema);
  if (found !== undefined) return check(found);
  const keys = createIdentityKeys();
  const createdAt = new Date(clock.wallMs()).toISOString();
  await files.write(IDENTITY_FILE, { version: 1, ...keys, createdAt });
  return keys;
}

function check({ publicKey, privateKey }: IdentityKeys): IdentityKeys {
  if (isSamePublicKey(publicKey, publicOf(privateKey) ?? '')) return { publicKey, privateKey };
  throw new ConfigurationError(
    `File "${IDENTITY_FILE}" of the state directory holds keys that do not belong together: restore it`,
  );
}

function publicOf(privateKey: string): string | undefined {
  try {
    return loadCrypto().createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  } catch {
    // Not a key: matches nothing.
    return undefined;
  }
}
