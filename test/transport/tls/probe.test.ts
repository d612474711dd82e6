import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/support/clock.ts';
import { silentLog } from '../../../src/support/log.ts';
import { probeController } from '../../../src/transport/tls/probe.ts';
import { openTlsFiles, parseControllerUrl } from '../../../src/transport/tls/tls.ts';
import { createAuthority } from './certificates.ts';
import { startController } from './controller.ts';

function probe(url: string, caFile?: string, limitMs = 5_000) {
  const files = openTlsFiles({ caFile, certFile: undefined, keyFile: undefined }, silentLog);
  return probeController(parseControllerUrl(url), files, { clock: systemClock, limitMs });
}

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'burrow-probe-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Takes connections and does nothing with them but what `onSocket` says. */
async function listen(onSocket: (socket: Socket) => void = () => {}): Promise<string> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `tls://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('probeController()', () => {
  it('says when the certificate of the controller runs out and whether the authority signed it', async () => {
    const authority = createAuthority(directory());
    const controller = await startController(authority.issue('controller', { days: 30 }));
    onTestFinished(() => controller.close());

    const found = await probe(controller.url, authority.certFile);

    expect(found).toMatchObject({ status: 'reached', verified: true });
    const leftMs = (found.status === 'reached' ? (found.expiresAtMs ?? 0) : 0) - Date.now();
    expect(Math.round(leftMs / 86_400_000)).toBe(30);
  });

  it('says why a certificate is not verified', async () => {
    const controller = await startController(createAuthority(directory()).issue('controller'));
    onTestFinished(() => controller.close());
    const other = createAuthority(directory(), 'other');

    const found = await probe(controller.url, other.certFile);

    expect(found).toMatchObject({ status: 'reached', verified: false });
    expect(found.status === 'reached' && found.problem).toBeTruthy();
  });

  it.each([
    ['nobody listens', async () => 'tls://127.0.0.1:1', 'connection'],
    ['something else answers', () => listen((socket) => socket.end('HTTP/1.1 400\r\n\r\n')), 'handshake'],
    ['nothing answers', () => listen(), 'handshake'],
  ])('says how far it came when %s', async (_what, start, stage) => {
    expect(await probe(await start(), undefined, 500)).toMatchObject({ status: 'failed', stage });
  });
});
