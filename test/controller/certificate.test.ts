import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { openOwnCertificate, readCertificate } from '../../src/controller/certificate.ts';
import { systemClock } from '../../src/support/clock.ts';
import { stateFilesIn } from '../../src/transport/tls/state-files.ts';
import { startWorld, temporaryDirectory } from './world.ts';

async function open(directory: string, names: string[]): ReturnType<typeof openOwnCertificate> {
  return openOwnCertificate(directory, stateFilesIn(directory), { names, clock: systemClock });
}

describe('openOwnCertificate()', () => {
  it('makes one for the names and addresses given, good for 20 years', async () => {
    const { cert, fingerprint } = await open(temporaryDirectory(), ['ctl.example', '127.0.0.1', '::1']);
    const parsed = new X509Certificate(cert);
    expect(parsed.subjectAltName).toBe('DNS:ctl.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect(parsed.fingerprint256).toBe(fingerprint);
    const years = (parsed.validToDate.getTime() - Date.now()) / (365.25 * 24 * 3_600_000);
    expect(years).toBeGreaterThan(19.9);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
  });

  it('keeps the one that is there, whatever the names', async () => {
    const directory = temporaryDirectory();
    const first = await open(directory, ['a']);
    expect(await open(directory, ['b'])).toEqual(first);
  });

  it('makes no new one when only the key is lost: hosts have pinned it', async () => {
    const directory = temporaryDirectory();
    await open(directory, ['a']);
    unlinkSync(join(directory, 'controller-certificate-key.pem'));
    await expect(open(directory, ['a'])).rejects.toMatchObject({ name: 'ConfigurationError' });
  });

  it('refuses the key of another certificate', async () => {
    const [one, two] = [temporaryDirectory(), temporaryDirectory()];
    await open(one, ['a']);
    await open(two, ['a']);
    const files = {
      certFile: join(one, 'controller-certificate.pem'),
      keyFile: join(two, 'controller-certificate-key.pem'),
    };
    expect(() => readCertificate(files)).toThrow(/cannot be used together/);
  });

  it('is its own authority: a client verifies the controller with the file', async () => {
    const world = await startWorld();
    const ca = readFileSync(join(world.stateDirectory, 'controller-certificate.pem'));
    const socket = connect({ port: world.controller.port, host: 'localhost', servername: 'test-host', ca });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
  });
});
