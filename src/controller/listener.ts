// Where gateways dial in: a TLS server that gives each peer ten seconds for its handshake, keeps those that have not yet
// proved anything few, and turns away what comes on top. It hands on a connection when TLS is done.

import { createServer, type Server, type TLSSocket } from 'node:tls';
import { BurrowError } from '../protocol/errors.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import type { Log } from '../support/log.ts';
import type { ServerCertificate } from './certificate.ts';

/** Beyond this many, connections are closed at once. */
const MAX_CONNECTIONS = 16_384;
/** The fleet of a controller that restarts arrives at once. */
const BACKLOG = 4_096;
const MIN_VERSION = 'TLSv1.2';

export interface ListenerOptions {
  host: string;
  /** 0: any that is free. */
  port: number;
  certificate: ServerCertificate;
  handshakeLimitMs: number;
  log: Log;
  onConnection(socket: TLSSocket): void;
}

export interface Listener {
  port: number;
  /** For connections from now on. */
  setCertificate(certificate: ServerCertificate): void;
  /** Takes no more connections; those that are there stay. */
  close(): void;
}

/** Throws ConfigurationError when the address cannot be listened on. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { host, port, certificate, log } = options;
  const server = createServer({
    cert: certificate.cert,
    key: certificate.key,
    minVersion: MIN_VERSION,
    handshakeTimeout: options.handshakeLimitMs,
    noDelay: true,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('secureConnection', options.onConnection);
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    log.warn(
      `Peer ${socket.remoteAddress ?? 'unknown'} did not finish its TLS handshake (${error.code ?? 'TLS'})`,
    );
    socket.destroy();
  });
  server.on('drop', () => log.warn(`Peer turned away: ${MAX_CONNECTIONS} are connected already`));
  await open(server, host, port);
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    setCertificate: ({ cert, key }) => server.setSecureContext({ cert, key, minVersion: MIN_VERSION }),
    close: () => void server.close(),
  };
}

async function open(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port, backlog: BACKLOG }, resolve);
  try {
    await promise;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`Cannot listen on ${host}:${port}: ${reason}`, error);
  }
  server.removeListener('error', reject);
  // Out of descriptors, for one: the listener lives on and takes connections again when there are some.
  server.on('error', () => {});
}

export function tooManyPeers(): BurrowError {
  return new BurrowError('unauthenticated', {
    message: 'Too many connections wait for their authentication',
    retryable: true,
  });
}
