// The CA, certificate and key files of this gateway, read again for each connection so that a renewal needs no restart. A set
// that cannot work (half written, key of another certificate) is told and the last good one is used on.

import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { loadCrypto } from '../../support/builtins.ts';
import { ConfigurationError } from '../../support/configuration-error.ts';
import type { Log } from '../../support/log.ts';
import { messageOf } from './state-files.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export interface TlsFilePaths {
  /** PEM; the system's own authorities when undefined. */
  caFile: string | undefined;
  /** PEM, both or none: what this gateway shows when the controller asks for a certificate. */
  certFile: string | undefined;
  keyFile: string | undefined;
}

export interface TlsMaterial {
  context: SecureContext;
  hasCa: boolean;
  expiries: readonly CertificateExpiry[];
}

export interface CertificateExpiry {
  certificate: 'ca' | 'gateway' | 'controller';
  /** Milliseconds since the epoch. */
  expiresAtMs: number;
}

export interface TlsFiles {
  /** What is on the disk now, or what was there last when that cannot be used. */
  read(): TlsMaterial;
}

/** Throws ConfigurationError when the files cannot be used at the start. */
export function openTlsFiles(paths: TlsFilePaths, log: Log): TlsFiles {
  if ((paths.certFile === undefined) !== (paths.keyFile === undefined)) {
    throw new ConfigurationError('Certificate file and key file belong together: give both or none');
  }
  let last = readMaterial(paths);
  let lastProblem: string | undefined;
  return {
    read() {
      try {
        last = readMaterial(paths);
        if (lastProblem !== undefined) log.info('TLS files can be used again');
        lastProblem = undefined;
      } catch (error) {
        const problem = messageOf(error);
        // Each connection reads them: the same problem is told once.
        if (problem !== lastProblem) log.warn(`${problem}; the files that were read before are used on`);
        lastProblem = problem;
      }
      return last;
    },
  };
}

function readMaterial({ caFile, certFile, keyFile }: TlsFilePaths): TlsMaterial {
  const ca = caFile === undefined ? undefined : readPem('CA file', caFile);
  const cert = certFile === undefined ? undefined : readPem('Certificate file', certFile);
  const key = keyFile === undefined ? undefined : readPem('Key file', keyFile);
  const expiries: CertificateExpiry[] = [];
  // Of a bundle the longest lived counts: old authorities are kept in it on purpose.
  if (ca !== undefined) {
    expiries.push({
      certificate: 'ca',
      expiresAtMs: Math.max(...expiryTimes(`CA file "${caFile}"`, ca)),
    });
  }
  if (cert !== undefined) {
    const [own] = expiryTimes(`Certificate file "${certFile}"`, cert);
    if (own !== undefined) expiries.push({ certificate: 'gateway', expiresAtMs: own });
  }
  try {
    return { context: createSecureContext({ ca, cert, key }), hasCa: ca !== undefined, expiries };
  } catch (error) {
    throw new ConfigurationError(
      `Certificate "${certFile}" and key "${keyFile}" cannot be used together: ${messageOf(error)}`,
      error,
    );
  }
}

function readPem(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`${what} "${path}" cannot be read: ${messageOf(error)}`, error);
  }
}

/** Of every certificate in the text, in order; OpenSSL itself takes a file without any and fails much later. */
function expiryTimes(what: string, pem: string): number[] {
  const { X509Certificate } = loadCrypto();
  try {
    const times = (pem.match(CERTIFICATE) ?? []).map((text) =>
      new X509Certificate(text).validToDate.getTime(),
    );
    if (times.length > 0) return times;
  } catch (error) {
    throw new ConfigurationError(`${what} is damaged: ${messageOf(error)}`, error);
  }
  throw new ConfigurationError(`${what} holds no certificate in PEM form`);
}
