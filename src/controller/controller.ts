// The other end of a gateway's outbound connection: gateways dial in over TLS and prove who they are, operators say whom to
// let in and send them work. Promises that nothing is asked of a gateway without proof, that one id has one connection, that
// each request is delivered at most once, and that trust survives a restart. It runs nothing itself and stores no work.

import { join } from 'node:path';
import type { Clock } from '../support/clock.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import { FileLock } from '../support/file-lock.ts';
import type { Log } from '../support/log.ts';
import { messageOf, openStateFiles, type StateFiles } from '../transport/tls/state-files.ts';
import { createActivityList } from './activity.ts';
import { createAdministration } from './administration.ts';
import {
  type CertificatePaths,
  openOwnCertificate,
  ownNames,
  readCertificate,
  type ServerCertificate,
} from './certificate.ts';
import { openGatewayRecords } from './gateway-records.ts';
import { createHall } from './hall.ts';
import { openIdentity } from './identity.ts';
import { type Listener, listen } from './listener.ts';
import { createOperators, type Operators } from './operators.ts';

/** For the TLS handshake, and again for the answer to the challenge. */
const HANDSHAKE_LIMIT_MS = 10_000;
const LOCK_FILE = 'controller.lock';

export interface ControllerOptions {
  host: string;
  /** 0: any that is free. */
  port: number;
  stateDirectory: string;
  /** Undefined: a certificate of its own. */
  certificate: CertificatePaths | undefined;
  /** More names for its own certificate, when that is made. */
  names: readonly string[];
  hostname: string;
  version: string;
  handshakeLimitMs?: number;
}

export interface Controller {
  port: number;
  fingerprint: string;
  expiresAtMs: number;
  /** Reads given certificate files again; a pair that cannot be used is told and the one before is used on. */
  reloadCertificate(): void;
  /** What a unix socket serves. */
  operators: Operators;
  /** Hangs up on everybody. May be called twice. */
  close(): Promise<void>;
}

/** Listening. Throws ConfigurationError for an address, a directory or files that cannot be used. */
export async function startController(
  options: ControllerOptions,
  { clock, log }: { clock: Clock; log: Log },
): Promise<Controller> {
  const files = await openStateFiles(options.stateDirectory);
  const lock = await lockState(options.stateDirectory);
  try {
    return await startLocked(options, { clock, log, files, lock });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Two controllers on one directory would each write the other's trust away. */
async function lockState(directory: string): Promise<FileLock> {
  const lock = new FileLock(join(directory, LOCK_FILE));
  const result = await lock.take().catch((error: unknown) => {
    throw new ConfigurationError(`Cannot lock state directory "${directory}": ${messageOf(error)}`, error);
  });
  if (result.status === 'taken') return lock;
  throw new ConfigurationError(
    `State directory "${directory}" is in use by the controller in process ${result.pid}: give each a directory of its own`,
  );
}

interface StartDeps {
  clock: Clock;
  log: Log;
  files: StateFiles;
  /** Taken; given back when the controller closes. */
  lock: FileLock;
}

async function startLocked(
  options: ControllerOptions,
  { clock, log, files, lock }: StartDeps,
): Promise<Controller> {
  const keys = await openIdentity(files, clock);
  const records = openGatewayRecords(files);
  const certificate = await openCertificate(options, files, clock);
  const activity = createActivityList(clock);
  const hall = createHall({
    clock,
    log,
    keys,
    records,
    limitMs: options.handshakeLimitMs ?? HANDSHAKE_LIMIT_MS,
  });
  const { roster, desk } = hall;
  const administration = createAdministration({
    ...{ records, desk, roster, activity, clock, log },
    admit: ({ gatewayId, link }) => hall.admit(gatewayId, 'node', link),
  });
  const operators = createOperators({
    ...{ roster, desk, activity, administration, clock, log, version: options.version },
  });
  const listener: Listener = await listen({
    ...{ host: options.host, port: options.port, certificate, log },
    handshakeLimitMs: options.handshakeLimitMs ?? HANDSHAKE_LIMIT_MS,
    onConnection: (socket) => hall.enter(socket),
  });
  return {
    port: listener.port,
    fingerprint: certificate.fingerprint,
    expiresAtMs: certificate.expiresAtMs,
    reloadCertificate() {
      if (options.certificate === undefined)
        return log.info("The certificate is the controller's own: nothing to read again");
      try {
        const next = readCertificate(options.certificate);
        listener.setCertificate(next);
        log.info(`Certificate read again: ${next.fingerprint}`);
      } catch (error) {
        log.error(
          `${error instanceof Error ? error.message : error}; the one that was read before is used on`,
        );
      }
    },
    operators,
    async close() {
      listener.close();
      await operators.stop();
      hall.close();
      await lock.release();
    },
  };
}

function openCertificate(
  options: ControllerOptions,
  files: StateFiles,
  clock: Clock,
): Promise<ServerCertificate> {
  if (options.certificate !== undefined) return Promise.resolve(readCertificate(options.certificate));
  const names = [...new Set([...options.names, ...ownNames(options.hostname)])];
  return openOwnCertificate(options.stateDirectory, files, { names, clock });
}
