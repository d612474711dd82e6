// Collectors as they fail in the field, each a real socket on loopback.
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';

export interface BrokenCollector {
  endpoint: string;
  /** How many there were. */
  connections(): number;
  close(): void;
}

/** What a connection does; the request is read and thrown away. */
type Behaviour = (socket: Socket) => void;

/** Answers each request (its first bytes, that is) with this. */
function answers(text: string): Behaviour {
  return (socket) => void socket.on('data', () => socket.write(text));
}

/** One byte a second, the first at once. */
function drips(text: string): Behaviour {
  return (socket) => {
    let sent = 0;
    const drip = (): void => {
      socket.write(text[sent % text.length] ?? '');
      sent += 1;
    };
    socket.once('data', drip);
    const timer = setInterval(drip, 1_000);
    socket.once('close', () => clearInterval(timer));
  };
}

const EMPTY = 'Content-Length: 0\r\n\r\n';

const BEHAVIOURS: Record<string, Behaviour> = {
  'black-holed': () => {},
  'answering 500': answers(`HTTP/1.1 500 Oops\r\n${EMPTY}`),
  'answering 429 with Retry-After': answers(`HTTP/1.1 429 Slow down\r\nRetry-After: 60\r\n${EMPTY}`),
  redirecting: answers(`HTTP/1.1 307 Elsewhere\r\nLocation: /elsewhere\r\n${EMPTY}`),
  'answering garbage': answers('\0\xff garbage \r\n\r\n'),
  'answering a garbage body': answers(
    'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n\xff\xff\xff\xff\xff\xff\xff',
  ),
  'sending one byte a second': drips('HTTP/1.1 200 OK\r\nX-Long: '.padEnd(500, 'x')),
  'never ending its answer': (socket) => {
    answers('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')(socket);
    const timer = setInterval(() => socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`), 50);
    socket.once('close', () => clearInterval(timer));
  },
  'hanging up': (socket) => void socket.once('data', () => socket.destroy()),
};

const OTHER_KINDS = ['refused', 'speaking plain text on https'];
export const BROKEN_KINDS = [...OTHER_KINDS, ...Object.keys(BEHAVIOURS)];

export async function startBroken(kind: string): Promise<BrokenCollector> {
  if (!BROKEN_KINDS.includes(kind)) throw new Error(`No collector is ${kind}`);
  const behave = BEHAVIOURS[kind] ?? answers('HTTP/1.1 400 Bad Request\r\n\r\n');
  const broken = await listen(createServer(), behave);
  if (kind === 'refused') broken.close();
  return kind.includes('https')
    ? { ...broken, endpoint: broken.endpoint.replace('http:', 'https:') }
    : broken;
}

/** A collector over TLS whose certificate is not trusted by itself. */
export function startTls(identity: { cert: string; key: string }): Promise<BrokenCollector> {
  const server = createHttpsServer(identity, (incoming, response) => {
    incoming.resume().once('end', () => response.writeHead(200).end());
  });
  return listen(server, () => {}).then((started) => ({
    ...started,
    endpoint: started.endpoint.replace('http:', 'https:'),
  }));
}

async function listen(server: Server, behave: Behaviour): Promise<BrokenCollector> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
