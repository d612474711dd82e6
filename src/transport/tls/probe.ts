// One TLS handshake with a controller, to tell an operator what stands in the way. It authenticates nobody and sends nothing.

import { checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import type { Clock } from '../../support/clock.ts';
import type { ControllerAddress } from './controller-url.ts';
import { messageOf } from './state-files.ts';
import type { TlsFiles } from './tls-files.ts';

export type ProbeResult =
  | { status: 'reached'; expiresAtMs: number | undefined; verified: boolean; problem: string | undefined }
  /** `stage` says how far it came: no connection, or no handshake on it. */
  | { status: 'failed'; stage: 'connection' | 'handshake'; reason: string };

/** Gives up after `limitMs`. Never throws for what the network does. */
export function probeController(
  address: ControllerAddress,
  files: TlsFiles,
  { clock, limitMs }: { clock: Clock; limitMs: number },
): Promise<ProbeResult> {
  return new Promise((resolve) => {
    let stage: 'connection' | 'handshake' = 'connection';
    const { host, port, serverName, certificateName } = address;
    const { context } = files.read();
    const socket = connect({
      host,
      port,
      secureContext: context,
      rejectUnauthorized: false,
      checkServerIdentity: (_name, certificate) => checkServerIdentity(certificateName, certificate),
      ...(serverName === undefined ? {} : { servername: serverName }),
    });
    const finish = (result: ProbeResult): void => {
      timer.cancel();
      socket.destroy();
      resolve(result);
    };
    const timer = clock.startTimer(limitMs, () =>
      finish({ status: 'failed', stage, reason: `no answer within ${limitMs} ms` }),
    );
    socket.once('connect', () => {
      stage = 'handshake';
    });
    socket.once('secureConnect', () => finish(describe(socket)));
    socket.once('error', (error) => finish({ status: 'failed', stage, reason: messageOf(error) }));
    socket.once('close', () => finish({ status: 'failed', stage, reason: 'the connection was closed' }));
  });
}

function describe(socket: TLSSocket): ProbeResult {
  const expiry = Date.parse(socket.getPeerCertificate().valid_to);
  return {
    status: 'reached',
    expiresAtMs: Number.isNaN(expiry) ? undefined : expiry,
    verified: socket.authorized,
    problem: socket.authorized ? undefined : messageOf(socket.authorizationError ?? 'not verified'),
  };
}
