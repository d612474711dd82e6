// How this gateway proves who it is, and whom it believes: a secret shared with the controller (enrollment), or a key pair of
// its own that an operator approved (pairing), with the controller's key and certificate pinned from then on. Promises that
// what is on record wins over what is configured, that a token makes trust once, and that a pin is never replaced.

import { createIdentityKeys } from '../../protocol/auth.ts';
import { loadCrypto } from '../../support/builtins.ts';
import type { Clock } from '../../support/clock.ts';
import { ConfigurationError } from '../../support/configuration-error.ts';
import type { Log } from '../../support/log.ts';
import { Secret } from '../../support/secret.ts';
import {
  CONSUMED_FILE,
  ControllerTrustSchema,
  IDENTITY_FILE,
  messageOf,
  type NodeIdentity,
  NodeIdentitySchema,
  openStateFiles,
  PAIRING_CODE_FILE,
  type StateFiles,
  TRUST_FILE,
} from './state-files.ts';

/** The controller's name for itself is not known before the first authentication. */
const DEFAULT_CONTROLLER_ID = 'controller';

export type Credentials =
  | { kind: 'hmac'; controllerId: string; secret: Secret }
  | { kind: 'pairing'; controllerId: string; publicKey: string; privateKey: Secret; pins: Pins };

/** Both undefined: wholly unpaired. */
export interface Pins {
  /** PEM. */
  controllerPublicKey: string | undefined;
  /** sha256 of the certificate. */
  tlsFingerprint: string | undefined;
}

export interface Trust {
  /** For the next connection. Makes the identity, and saves it, when pairing is the way and there is none yet. */
  credentials(): Promise<Credentials>;
  /** The controller accepted `credentials`: what is new is put on record. A disk that refuses is logged. */
  confirm(credentials: Credentials, seen: Pins): Promise<void>;
  /** For the operator of this host to read, until `confirm`. */
  recordPairingCode(pairingCode: string): Promise<void>;
}

export interface TrustOptions {
  directory: string;
  gatewayId: string;
  enrollmentToken: Secret | undefined;
}

export interface TrustDeps {
  clock: Clock;
  log: Log;
}

/** Throws ConfigurationError when a file of the directory is damaged: guessing would replace an identity. */
export async function openTrust(options: TrustOptions, deps: TrustDeps): Promise<Trust> {
  const files = await openStateFiles(options.directory);
  const enrollment = findEnrollment(options, files, deps.log);
  if (enrollment !== undefined) return createEnrolled(enrollment, files, deps);
  return createPaired({ files, gatewayId: options.gatewayId }, deps);
}

interface Enrollment {
  controllerId: string;
  secret: Secret;
  isOnRecord: boolean;
}

function findEnrollment(
  { enrollmentToken }: TrustOptions,
  files: StateFiles,
  log: Log,
): Enrollment | undefined {
  const record = files.read(TRUST_FILE, ControllerTrustSchema);
  if (record !== undefined) {
    if (enrollmentToken !== undefined && enrollmentToken.reveal() !== record.secret) {
      log.warn(`Enrollment token is not used: ${TRUST_FILE} holds the trust of an earlier enrollment`);
    }
    return { controllerId: record.controllerId, secret: new Secret(record.secret), isOnRecord: true };
  }
  if (enrollmentToken === undefined) return undefined;
  if (files.has(CONSUMED_FILE)) {
    log.warn(
      `Enrollment token is not used: it made trust once (${CONSUMED_FILE}), which was removed since; pairing instead`,
    );
    return undefined;
  }
  return { controllerId: DEFAULT_CONTROLLER_ID, secret: enrollmentToken, isOnRecord: false };
}

function createEnrolled(enrollment: Enrollment, files: StateFiles, { clock, log }: TrustDeps): Trust {
  const { controllerId, secret } = enrollment;
  let { isOnRecord } = enrollment;
  return {
    credentials: () => Promise.resolve({ kind: 'hmac', controllerId, secret }),
    async confirm() {
      if (isOnRecord) return;
      const now = new Date(clock.wallMs()).toISOString();
      await keep(log, TRUST_FILE, async () => {
        await files.write(TRUST_FILE, { version: 1, controllerId, secret: secret.reveal(), enrolledAt: now });
        await files.write(CONSUMED_FILE, `${now}\n`);
        isOnRecord = true;
      });
    },
    recordPairingCode: () => Promise.resolve(),
  };
}

interface PairingOptions {
  files: StateFiles;
  gatewayId: string;
}

function createPaired({ files, gatewayId }: PairingOptions, { clock, log }: TrustDeps): Trust {
  let identity = files.read(IDENTITY_FILE, NodeIdentitySchema);
  const now = (): string => new Date(clock.wallMs()).toISOString();
  const makeIdentity = async (): Promise<NodeIdentity> => {
    const made = {
      version: 1 as const,
      nodeId: loadCrypto().randomUUID(),
      ...createIdentityKeys(),
      createdAt: now(),
    };
    try {
      await files.write(IDENTITY_FILE, made);
    } catch (error) {
      throw new ConfigurationError(`Cannot save the identity of this gateway: ${messageOf(error)}`, error);
    }
    return made;
  };
  return {
    async credentials() {
      identity ??= await makeIdentity();
      return {
        kind: 'pairing',
        controllerId: DEFAULT_CONTROLLER_ID,
        publicKey: identity.publicKey,
        privateKey: new Secret(identity.privateKey),
        pins: pinsOf(identity),
      };
    },
    async confirm(_credentials, seen) {
      if (identity === undefined) return;
      const pins = pinsOf(identity);
      const pinned = {
        ...identity,
        controllerPublicKey: pins.controllerPublicKey ?? seen.controllerPublicKey,
        controllerTlsFingerprint: pins.tlsFingerprint ?? seen.tlsFingerprint,
      };
      const isNew = pins.controllerPublicKey === undefined || pins.tlsFingerprint === undefined;
      // From this moment the pins hold, whether or not the disk takes them.
      identity = pinned;
      if (isNew) await keep(log, IDENTITY_FILE, () => files.write(IDENTITY_FILE, pinned));
      await keep(log, PAIRING_CODE_FILE, () => files.remove(PAIRING_CODE_FILE));
    },
    recordPairingCode: (pairingCode) =>
      keep(log, PAIRING_CODE_FILE, () =>
        files.write(PAIRING_CODE_FILE, { gatewayId, pairingCode, updatedAt: now() }),
      ),
  };
}

function pinsOf(identity: NodeIdentity): Pins {
  return {
    controllerPublicKey: identity.controllerPublicKey ?? undefined,
    tlsFingerprint: identity.controllerTlsFingerprint ?? undefined,
  };
}

async function keep(log: Log, name: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.error(`Cannot update ${name}; it is right until this process ends: ${messageOf(error)}`);
  }
}
