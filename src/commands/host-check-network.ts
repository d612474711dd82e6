// The checks of `burrow host doctor` towards the controller: address, certificate files and their expiry, name, TLS.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { silentLog } from '../support/log.ts';
import { describeCertificate } from '../transport/tls/certificate-health.ts';
import { probeController } from '../transport/tls/probe.ts';
import {
  type ControllerAddress,
  openTlsFiles,
  parseControllerUrl,
  type TlsFiles,
} from '../transport/tls/tls.ts';
import type { Settings } from './host-check-files.ts';
import { type Finding, failed, ok, skipped, warn } from './host-finding.ts';
import type { System } from './system.ts';

const PROBE_LIMIT_MS = 5_000;

/** `isLive` false: the files alone are looked at. */
export async function checkNetwork(settings: Settings, system: System, isLive: boolean): Promise<Finding[]> {
  const url = settings.get('BURROW_GATEWAY_CONTROLLER_URL');
  if (url === undefined) return [skipped('reachability', 'No controller is configured')];
  let address: ControllerAddress;
  try {
    address = parseControllerUrl(url, settings.get('BURROW_GATEWAY_CONTROLLER_SERVER_NAME'));
  } catch (error) {
    return [
      failed('configuration', messageOf(error), 'burrow host configure --controller tls://HOST[:PORT]'),
    ];
  }
  const { files, findings } = checkCertificates(settings, system);
  if (!isLive) return [...findings, skipped('reachability', 'A system that does not run dials nobody')];
  const name = await checkName(address);
  if (name.status === 'failed' || files === undefined) return [...findings, name];
  return [...findings, name, ...(await checkTls(address, files, system))];
}

function checkCertificates(
  settings: Settings,
  system: System,
): { files: TlsFiles | undefined; findings: Finding[] } {
  const paths = {
    caFile: settings.get('BURROW_GATEWAY_CA_FILE'),
    certFile: settings.get('BURROW_GATEWAY_CERT_FILE'),
    keyFile: settings.get('BURROW_GATEWAY_KEY_FILE'),
  };
  try {
    const files = openTlsFiles(paths, silentLog);
    const findings = files.read().expiries.map((expiry) => expiryFinding(expiry, system));
    return { files, findings };
  } catch (error) {
    const next = 'Correct the file, or the setting: burrow host configure --ca FILE --cert FILE --key FILE';
    return { files: undefined, findings: [failed('certificates', messageOf(error), next)] };
  }
}

function expiryFinding(expiry: Parameters<typeof describeCertificate>[0], system: System): Finding {
  const { certificate, expiresAt, daysLeft, state } = describeCertificate(expiry, system.clock.wallMs());
  const detail = `Certificate of ${certificate} expires ${expiresAt} (${daysLeft} days)`;
  const next = 'Renew it; the service reads the files anew for each connection';
  if (state === 'ok') return ok('certificates', detail);
  return state === 'expired' ? failed('certificates', detail, next) : warn('certificates', detail, next);
}

async function checkName({ host }: ControllerAddress): Promise<Finding> {
  if (isIP(host) !== 0) return ok('name', `${host} is an address`);
  try {
    const addresses = await lookup(host, { all: true });
    return ok('name', `${host} is ${addresses.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    return failed(
      'name',
      `${host} cannot be resolved: ${messageOf(error)}`,
      'Look at /etc/resolv.conf and /etc/hosts',
    );
  }
}

async function checkTls(address: ControllerAddress, files: TlsFiles, system: System): Promise<Finding[]> {
  const probe = await probeController(address, files, { clock: system.clock, limitMs: PROBE_LIMIT_MS });
  if (probe.status === 'failed') {
    const next =
      probe.stage === 'connection'
        ? 'Is the controller running, and the port open on the way to it?'
        : 'Something answers that is no controller, or it wants a client certificate';
    return [failed('reachability', `${address.text}: no ${probe.stage}: ${probe.reason}`, next)];
  }
  const findings = [ok('reachability', `${address.text} answers over TLS`)];
  if (!probe.verified && files.read().hasCa) {
    const next =
      'Is the CA file the one that signed the controller, and the name in the URL that of its certificate?';
    findings.push(failed('certificates', `The controller is not verified: ${probe.problem}`, next));
  }
  if (probe.expiresAtMs !== undefined)
    findings.push(expiryFinding({ certificate: 'controller', expiresAtMs: probe.expiresAtMs }, system));
  return findings;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
