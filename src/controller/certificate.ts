// The certificate of the controller's listener: given files, or one of its own, made at the first start and kept. Paired
// gateways pin its fingerprint, so it is long-lived and never replaced by itself; enrolled ones take it as their CA file.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { certificateFingerprint } from '../protocol/auth.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { Clock } from '../support/clock.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import { messageOf, type StateFiles } from '../transport/tls/state-files.ts';

const CERTIFICATE_FILE = 'controller-certificate.pem';
const KEY_FILE = 'controller-certificate-key.pem';
const VALID_YEARS = 20;
/** More names than this are left out: a host with thousands of addresses must not make a certificate of megabytes. */
const MAX_NAMES = 64;

export interface ServerCertificate {
  /** PEM. */
  cert: string;
  key: string;
  /** sha256 as `openssl x509 -fingerprint -sha256` prints it. */
  fingerprint: string;
  expiresAtMs: number;
}

export interface CertificatePaths {
  certFile: string;
  keyFile: string;
}

/** Throws ConfigurationError when the files cannot be read or do not belong together. */
export function readCertificate({ certFile, keyFile }: CertificatePaths): ServerCertificate {
  const cert = readPem('Certificate file', certFile);
  const key = readPem('Key file', keyFile);
  try {
    createSecureContext({ cert, key });
    const parsed = new (loadCrypto().X509Certificate)(cert);
    return {
      cert,
      key,
      fingerprint: certificateFingerprint(parsed.raw),
      expiresAtMs: parsed.validToDate.getTime(),
    };
  } catch (error) {
    throw new ConfigurationError(
      `Certificate "${certFile}" and key "${keyFile}" cannot be used together: ${messageOf(error)}`,
      error,
    );
  }
}

/** The kept certificate of the state directory, made for `names` (host names and addresses) when there is none yet. */
export async function openOwnCertificate(
  directory: string,
  files: StateFiles,
  { names, clock }: { names: readonly string[]; clock: Clock },
): Promise<ServerCertificate> {
  if (!files.has(CERTIFICATE_FILE) || !files.has(KEY_FILE)) {
    if (files.has(CERTIFICATE_FILE)) {
      throw new ConfigurationError(
        `Certificate "${CERTIFICATE_FILE}" is without its key "${KEY_FILE}": restore it, or remove the certificate and pair every host again`,
      );
    }
    const made = await makeCertificate(names, clock);
    // The key first: a certificate that is there has its key.
    await files.write(KEY_FILE, made.key);
    await files.write(CERTIFICATE_FILE, made.cert);
  }
  return readCertificate({ certFile: join(directory, CERTIFICATE_FILE), keyFile: join(directory, KEY_FILE) });
}

/** What this host can be called by: its name, `localhost`, and every address that it has now. */
export function ownNames(hostname: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = addresses.map(({ address }) => address).filter((address) => !address.includes('%'));
  return [...new Set([hostname, 'localhost', '127.0.0.1', '::1', ...usable])];
}

async function makeCertificate(
  names: readonly string[],
  clock: Clock,
): Promise<{ cert: string; key: string }> {
  // Large, and needed once in the life of a controller.
  const { generate } = await import('selfsigned');
  const from = new Date(clock.wallMs());
  const until = new Date(clock.wallMs());
  until.setUTCFullYear(until.getUTCFullYear() + VALID_YEARS);
  const made = await generate([{ name: 'commonName', value: 'burrow controller' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: from,
    notAfterDate: until,
    extensions: [
      // Its own authority, so that the very file can be handed to a gateway as its CA.
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names
          .filter((name) => name !== '')
          .slice(0, MAX_NAMES)
          .map(altName),
      },
    ],
  });
  return { cert: `${made.cert.trim()}\n`, key: made.private };
}

function altName(name: string): { type: 2; value: string } | { type: 7; ip: string } {
  return isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };
}

function readPem(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`${what} "${path}" cannot be read: ${messageOf(error)}`, error);
  }
}
