// The gateway on a unix socket, for the operators of this host: many clients, each with a session of its own, who may go
// away while their operations run on. Promises that the socket is reachable by owner and group alone, that a dead socket is
// replaced and a live one is not, and that no protected value is taken here. It never changes a file that is not a socket.

import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Gateway } from '../gateway/gateway.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import type { Log } from '../support/log.ts';
import { createFrameWriter } from './frame-writer.ts';
import { createRequestIntake } from './request-intake.ts';
import { clearSocketPath } from './unix-path.ts';

const SOCKET_MODE = 0o660;
/** While the socket is made, so that there is no moment in which others could connect. */
const SOCKET_UMASK = 0o117;
/** More are turned away at once. */
const MAX_CLIENTS = 1_024;

export interface UnixServerOptions {
  path: string;
  log: Log;
}

export interface UnixServer {
  /** Resolves when every frame sent so far left, or its client is gone. */
  flushed(): Promise<void>;
  /** Takes no more clients, hangs up on the others and removes the socket. May be called twice. */
  close(): Promise<void>;
}

interface Client {
  flushed(): Promise<void>;
  close(): void;
}

/**
 * The server, listening. Throws ConfigurationError when the path is too long, taken by a living server or by something
 * else, or lies in a directory where strangers could put another in its place.
 */
export async function serveUnix(gateway: Gateway, { path, log }: UnixServerOptions): Promise<UnixServer> {
  await clearSocketPath(path);
  const clients = new Set<Client>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const client = serveClient(gateway, socket);
    clients.add(client);
    socket.once('close', () => clients.delete(client));
  });
  server.maxConnections = MAX_CLIENTS;
  server.on('drop', () =>
    log.warn(`Client of socket "${path}" turned away: ${MAX_CLIENTS} are connected already`),
  );
  await listen(server, path);
  log.info(`Listening on socket "${path}"`);
  return {
    async flushed() {
      await Promise.all([...clients].map((client) => client.flushed()));
    },
    close() {
      if (!server.listening) return Promise.resolve();
      return new Promise((resolve) => {
        server.close(() => resolve());
        for (const client of clients) client.close();
      });
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('listening', resolve);
  // The socket is bound before this returns, with the umask of that moment.
  const umask = process.umask(SOCKET_UMASK);
  server.listen({ path });
  process.umask(umask);
  try {
    await promise;
    chmodSync(path, SOCKET_MODE);
  } catch (error) {
    throw new ConfigurationError(`Cannot listen on socket "${path}": ${messageOf(error)}`, error);
  }
  server.removeListener('error', reject);
}

function serveClient(gateway: Gateway, socket: Socket): Client {
  const writer = createFrameWriter(socket, {
    onSaturated: (saturated) => session.setSaturated(saturated),
    onOverfull: (overfull) => intake.hold(overfull),
  });
  const session = gateway.connect({
    transport: 'unix-jsonl',
    maxFrameBytes: MAX_FRAME_BYTES,
    send: writer.send,
  });
  const hangUp = (): void => {
    void writer.flushed().then(() => socket.end());
  };
  socket.on('error', () => socket.destroy());
  // No more requests: what runs is still answered.
  const intake = createRequestIntake(socket, session, () => void session.idle().then(hangUp));
  // The client is gone: its operations run on, at full speed, and their outcomes wait in the journal.
  socket.once('close', () => session.setSaturated(false));
  return { flushed: writer.flushed, close: () => socket.destroySoon() };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
