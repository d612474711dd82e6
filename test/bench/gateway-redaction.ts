// 64 MiB of output with 10 protected values, some of which occur in it, against the same output without any: over TLS from the
// built daemon to a controller that only counts.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { type Authority, createAuthority } from '../transport/tls/certificates.ts';
import { BINARY } from './daemon.ts';
import { type Bench, compare } from './figure.ts';

const ROUNDS = 5;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const VALUES = Array.from({ length: 10 }, (_, index) =>
  createHash('sha256').update(String(index)).digest('base64url').slice(0, 32),
);
const NONCE = '0123456789abcdef';

export const gatewayRedaction: Bench = {
  name: 'redaction',
  async run() {
    const directory = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
    const file = join(directory, 'text');
    writeFileSync(file, logText());
    const authority = createAuthority(directory);
    const line = await openLine(authority, directory);
    try {
      const plain = (): Promise<number> => runCat(line.socket, file, []);
      const result = await compare(ROUNDS, plain, () => runCat(line.socket, file, VALUES));
      const rate = (ms: number): string => `${(OUTPUT_BYTES / 1024 / 1024 / (ms / 1_000)).toFixed(0)} MiB/s`;
      return [
        {
          name: '64 MiB of text with 10 protected values, rate without',
          value: result.ratio,
          unit: '×',
          limit: { kind: 'min', value: 0.5 },
          detail: `${rate(result.b)} of ${rate(result.a)}`,
        },
      ];
    } finally {
      await line.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** Like a build log, with a value in every fiftieth line. */
function logText(): Buffer {
  const lines = Array.from({ length: 4_000 }, (_, index) => {
    const value = index % 50 === 0 ? ` token ${VALUES[index % VALUES.length]}` : '';
    return `[${index}] compiling src/module-${index % 97}/file-${index}.ts: ok in ${index % 313} ms${value}`;
  });
  return Buffer.alloc(OUTPUT_BYTES, Buffer.from(`${lines.join('\n')}\n`));
}

interface Line {
  socket: TLSSocket;
  close(): Promise<void>;
}

async function openLine(authority: Authority, directory: string): Promise<Line> {
  const { cert, key } = authority.issue('controller');
  const server = createServer({ cert, key });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = [
    '--gateway-id',
    'bench',
    '--ca',
    authority.certFile,
    '--state-dir',
    join(directory, 'state'),
  ];
  const daemon: ChildProcess = spawn(
    BINARY,
    ['daemon', '--controller', `tls://127.0.0.1:${port}`, ...options],
    { env: { ...process.env, BURROW_GATEWAY_ENROLLMENT_TOKEN: 'token' }, stdio: 'ignore' },
  );
  const [socket] = (await once(server, 'secureConnection')) as [TLSSocket];
  socket.write(`${JSON.stringify({ type: 'auth.challenge', nonce: NONCE })}\n`);
  await once(socket, 'data');
  socket.write(`${JSON.stringify({ type: 'auth.ok', connectionId: 'c' })}\n`);
  return {
    socket,
    async close() {
      daemon.kill('SIGTERM');
      await once(daemon, 'exit');
      server.close();
    },
  };
}

let nextId = 0;

/** From the request to the first bytes of its response, in milliseconds. */
async function runCat(socket: TLSSocket, file: string, values: readonly string[]): Promise<number> {
  nextId += 1;
  const id = `bench-${nextId}`;
  const protectedParams = {
    protectedValues: Object.fromEntries(values.map((value, index) => [`VALUE_${index}`, value])),
    protectedDelivery: { gatewayId: 'bench', connectionId: 'c', requestId: id, operationId: id },
  };
  const params = { executable: 'cat', args: [file], maxOutputBytes: 2 * OUTPUT_BYTES, operationId: id };
  const answered = waitForResponse(socket, id);
  const beganAtMs = performance.now();
  socket.write(
    `${JSON.stringify({ id, method: 'process.exec', params: values.length > 0 ? { ...params, ...protectedParams } : params })}\n`,
  );
  await answered;
  return performance.now() - beganAtMs;
}

function waitForResponse(socket: TLSSocket, id: string): Promise<void> {
  const wanted = Buffer.from(`"type":"response","requestId":"${id}"`);
  let tail: Buffer = Buffer.alloc(0);
  return new Promise((resolve) => {
    const look = (chunk: Buffer): void => {
      const seam = Buffer.concat([tail, chunk.subarray(0, wanted.length)]);
      if (!chunk.includes(wanted) && !seam.includes(wanted)) {
        tail = chunk.subarray(-wanted.length);
        return;
      }
      socket.off('data', look);
      resolve();
    };
    socket.on('data', look);
  });
}
