// Who is at the other end of a TLS connection: how it is verified, what was seen of it, and what is wrong with it in words.

import type { TcpSocketConnectOpts } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';
import { certificateFingerprint, isSameFingerprint } from '../../protocol/auth.ts';
import { BurrowError } from '../../protocol/errors.ts';
import type { ControllerAddress } from './controller-url.ts';
import type { TlsMaterial } from './tls-files.ts';
import type { Credentials } from './trust.ts';

/** For each address of a name that has several; the default of 250 ms gives up on a distant one. */
const ADDRESS_LIMIT_MS = 3_000;

/** Why a connection ended. `code` is one of the error table, of the system or of OpenSSL. */
export interface EndReason {
  code: string;
  message: string;
}

export interface PeerIdentity {
  fingerprint: string;
  expiresAtMs: number;
}

export function tlsOptions(options: {
  address: ControllerAddress;
  credentials: Credentials;
  material: TlsMaterial;
}): ConnectionOptions & Pick<TcpSocketConnectOpts, 'autoSelectFamilyAttemptTimeout'> {
  const { host, port, serverName, certificateName } = options.address;
  return {
    host,
    port,
    servername: serverName ?? '',
    secureContext: options.material.context,
    rejectUnauthorized: isVerified(options.credentials, options.material.hasCa),
    checkServerIdentity: (_name, certificate) => checkName(certificateName, certificate),
    autoSelectFamilyAttemptTimeout: ADDRESS_LIMIT_MS,
  };
}

/**
 * Whether the certificate must be signed by an authority and carry the configured name. Not when it is pinned and no CA is
 * given (the pin is stricter), and not for the one transcript of a gateway that knows nothing yet.
 */
function isVerified(credentials: Credentials, hasCa: boolean): boolean {
  if (hasCa || credentials.kind === 'hmac') return true;
  const { controllerPublicKey, tlsFingerprint } = credentials.pins;
  return controllerPublicKey !== undefined && tlsFingerprint === undefined;
}

function checkName(name: string, certificate: PeerCertificate): Error | undefined {
  const error = checkServerIdentity(name, certificate);
  if (error === undefined) return undefined;
  const names = certificate.subjectaltname ?? certificate.subject?.CN ?? 'nobody';
  error.message = `its certificate is for ${JSON.stringify(names)}, not for "${name}"`;
  return error;
}

/** Undefined when the peer showed no certificate. */
export function identifyPeer(socket: TLSSocket): PeerIdentity | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  return {
    fingerprint: certificateFingerprint(certificate.raw),
    expiresAtMs: certificate.validToDate.getTime(),
  };
}

/** `controller_tls_identity_mismatch` when a certificate is pinned and another, or none, was shown. */
export function tlsProblem(
  peer: PeerIdentity | undefined,
  credentials: Credentials,
): BurrowError | undefined {
  if (credentials.kind === 'hmac') return undefined;
  const pinned = credentials.pins.tlsFingerprint;
  if (pinned === undefined) return undefined;
  if (peer !== undefined && isSameFingerprint(pinned, peer.fingerprint)) return undefined;
  return new BurrowError('controller_tls_identity_mismatch', {
    message: `Controller certificate has fingerprint ${peer?.fingerprint ?? 'none'}, not the pinned one`,
  });
}

export function describeTlsError(error: NodeJS.ErrnoException, address: ControllerAddress): EndReason {
  const code = error.code ?? 'TLS';
  const system = SYSTEM_REASONS[code];
  if (system !== undefined) return { code, message: system };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return { code, message: `the name "${address.host}" cannot be resolved` };
  }
  // The text of OpenSSL repeats its source file and line; `reason` is the sentence in it.
  const isOpenSsl = code.startsWith('ERR_SSL_') && 'reason' in error && typeof error.reason === 'string';
  return { code, message: isOpenSsl ? String(error.reason) : error.message };
}

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
};
