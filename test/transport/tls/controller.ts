// The other end of the line in tests: accepts TLS connections and says what the test tells it to, byte by byte if need be.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, createServer, type TLSSocket } from 'node:tls';
import { createIdentityKeys } from '../../../src/protocol/auth.ts';
import type { Issued } from './certificates.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages are looked into by path.
export type Message = any;

export interface Peer {
  socket: TLSSocket;
  messages: Message[];
  send(message: object | string): void;
  /** The first message that matches, come or to come. */
  waitFor(matches: (message: Message) => boolean): Promise<Message>;
  /** Sends a challenge and resolves with the answer to it. */
  challenge(extra?: object): Promise<Message>;
  /** Challenge, answer, ok. */
  admit(connectionId: string): Promise<Message>;
  closed: Promise<void>;
}

export interface TestController {
  port: number;
  url: string;
  keys: ReturnType<typeof createIdentityKeys>;
  /** The next connection that finished its handshake. */
  next(): Promise<Peer>;
  /** All that ever did. */
  peers: Peer[];
  /** Raw connections, before any handshake. */
  sockets: Set<Socket>;
  close(): Promise<void>;
}

export const NONCE = '0123456789abcdef';

/** `hosts`: the certificates of virtual hosts, by the name that is asked for. */
export async function startController(
  issued: Issued,
  host = '127.0.0.1',
  hosts: Readonly<Record<string, Issued>> = {},
): Promise<TestController> {
  const keys = createIdentityKeys();
  const peers: Peer[] = [];
  const sockets = new Set<Socket>();
  let taken = 0;
  let wake = (): void => {};
  const server = createServer(
    {
      ...{ cert: issued.cert, key: issued.key, requestCert: true, rejectUnauthorized: false },
      SNICallback: (name, done) => {
        const { cert, key } = hosts[name] ?? issued;
        done(null, createSecureContext({ cert, key }));
      },
    },
    (socket) => {
      peers.push(createPeer(socket, keys.publicKey));
      wake();
    },
  );
  server.on('tlsClientError', () => {});
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `tls://${host}:${bound}`,
    keys,
    peers,
    sockets,
    async next() {
      while (peers.length <= taken) await new Promise<void>((resolve) => (wake = resolve));
      taken += 1;
      return peers[taken - 1]!;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server, 'close');
    },
  };
}

function createPeer(socket: TLSSocket, controllerPublicKey: string): Peer {
  const messages: Message[] = [];
  let pending = '';
  const waiters: (() => void)[] = [];
  const wakeAll = (): void => {
    for (const wake of waiters.splice(0)) wake();
  };
  socket.on('error', () => {});
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line));
    wakeAll();
  });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  void closed.then(wakeAll);
  const peer: Peer = {
    socket,
    messages,
    closed,
    send: (message) =>
      void socket.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
    async waitFor(matches) {
      for (;;) {
        const found = messages.find(matches);
        if (found !== undefined) return found;
        if (socket.destroyed)
          throw new Error(`Connection closed; it said ${JSON.stringify(messages).slice(0, 500)}`);
        await new Promise<void>((resolve) => waiters.push(resolve));
      }
    },
    challenge(extra = {}) {
      peer.send({ type: 'auth.challenge', nonce: NONCE, controllerPublicKey, ...extra });
      return peer.waitFor((message) => message.type === 'auth.response');
    },
    async admit(connectionId) {
      const response = await peer.challenge();
      peer.send({ type: 'auth.ok', connectionId });
      return response;
    },
  };
  return peer;
}
