// A gateway that says what the test tells it to: dials in over TLS, reads lines, can prove who it is in both ways.
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { createIdentityKeys, hmacProof, pairingCode, signPairing } from '../../src/protocol/auth.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages are looked into by tests that say what they expect
export type Message = Record<string, any>;

export interface FakeGateway {
  socket: TLSSocket;
  messages: Message[];
  /** A string goes as it is; an object as a line of JSON. */
  send(...messages: (object | string)[]): void;
  waitFor(matches: (message: Message) => boolean): Promise<Message>;
  type(type: string): Promise<Message>;
  request(method: string): Promise<Message>;
  closed: Promise<void>;
  close(): void;
}

export type Keys = ReturnType<typeof createIdentityKeys>;

export async function dial(port: number): Promise<FakeGateway> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  socket.on('error', () => {});
  const messages: Message[] = [];
  const watchers = new Set<() => void>();
  const wake = (): void => {
    for (const watcher of watchers) watcher();
  };
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line));
    wake();
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      wake();
      resolve();
    });
  });
  const waitFor: FakeGateway['waitFor'] = (matches) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = messages.find(matches);
        if (found === undefined && !socket.closed) return;
        watchers.delete(look);
        if (found !== undefined) resolve(found);
        else reject(new Error(`Connection ended; it said ${JSON.stringify(messages).slice(0, 500)}`));
      };
      watchers.add(look);
      look();
    });
  await once(socket, 'secureConnect');
  return {
    socket,
    messages,
    send(...items) {
      for (const item of items) socket.write(typeof item === 'string' ? item : `${JSON.stringify(item)}\n`);
    },
    waitFor,
    type: (type) => waitFor((message) => message['type'] === type),
    request: (method) => waitFor((message) => message['method'] === method),
    closed,
    close: () => socket.destroy(),
  };
}

/** An `auth.response` that pairs. */
export async function pairingResponse(
  gateway: FakeGateway,
  { gatewayId, keys = createIdentityKeys() }: { gatewayId: string; keys?: Keys },
): Promise<Message> {
  const { nonce, controllerPublicKey } = await gateway.type('auth.challenge');
  const transcript = { nonce, gatewayId, nodePublicKey: keys.publicKey, controllerPublicKey };
  return {
    type: 'auth.response',
    gatewayId,
    controllerId: 'controller',
    gateway: { name: 'burrow-host-gateway', version: '9.9.9', protocolVersion: '1.0' },
    nodePublicKey: keys.publicKey,
    pairingSignature: signPairing(transcript, keys.privateKey),
    pairingCode: pairingCode(transcript),
  };
}

/** An `auth.response` with a proof. */
export async function proofResponse(
  gateway: FakeGateway,
  { gatewayId, secret }: { gatewayId: string; secret: string },
): Promise<Message> {
  const { nonce } = await gateway.type('auth.challenge');
  return {
    type: 'auth.response',
    gatewayId,
    controllerId: 'controller',
    proof: hmacProof(secret, { gatewayId, nonce }),
    gateway: { name: 'burrow-host-gateway', version: '9.9.9', protocolVersion: '1.0' },
  };
}
