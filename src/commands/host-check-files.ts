// The checks of `burrow host doctor` on files: settings, modes and owners, disk, journal, clock.

import { lstatSync, readdirSync, readFileSync, type Stats, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { GatewayIdSchema } from '../protocol/auth.ts';
import type { Clock } from '../support/clock.ts';
import { formatSizeBytes } from '../support/durations.ts';
import { parseEnvFile } from './host-env-file.ts';
import { type Finding, failed, ok, skipped, warn } from './host-finding.ts';
import type { HostPaths } from './host-paths.ts';

/** Less than this leaves no room for the journal's next fold. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;
const LOW_FREE_BYTES = 512 * 1024 * 1024;
/** Files of the future are a clock that was set back; this much may be an imprecise one. */
const CLOCK_TOLERANCE_MS = 60_000;
const OTHERS_MAY_READ = 0o004;

export type Settings = ReadonlyMap<string, string>;

export function checkConfiguration({ envFile }: HostPaths): { findings: Finding[]; settings: Settings } {
  let text: string;
  try {
    text = readFileSync(envFile, 'utf8');
  } catch (error) {
    const finding =
      codeOf(error) === 'ENOENT'
        ? warn('configuration', `"${envFile}" does not exist`, 'burrow host configure writes it')
        : failed('configuration', `"${envFile}" cannot be read: ${codeOf(error)}`, 'Run this as root');
    return { findings: [finding], settings: new Map() };
  }
  const { values, problems } = parseEnvFile(text);
  if (problems.length === 0) return { findings: [checkIdentity(values, envFile)], settings: values };
  const findings = problems.map(({ line, message }) =>
    failed('configuration', `${envFile}:${line}: ${message}`, `Correct line ${line} of ${envFile}`),
  );
  return { findings, settings: values };
}

function checkIdentity(values: Settings, envFile: string): Finding {
  const url = values.get('BURROW_GATEWAY_CONTROLLER_URL');
  const id = values.get('BURROW_GATEWAY_ID');
  if (url === undefined) {
    const next = 'For a controller: burrow host configure --controller tls://HOST --gateway-id ID';
    return warn('configuration', 'No controller is configured; the service serves its socket only', next);
  }
  if (!v.is(GatewayIdSchema, id))
    return failed(
      'configuration',
      'BURROW_GATEWAY_ID is missing or cannot be used',
      'burrow host configure --gateway-id ID',
    );
  return ok('configuration', `${envFile}: host "${id}" of ${url}`);
}

export function checkModes({ envFile, stateDir }: HostPaths, settings: Settings): Finding[] {
  const findings: Finding[] = [];
  const env = look(envFile);
  if (env !== undefined && (env.mode & OTHERS_MAY_READ) !== 0)
    findings.push(failed('modes', `"${envFile}" can be read by everyone`, `chmod 0640 ${envFile}`));
  const state = look(stateDir);
  if (state === undefined) {
    findings.push(warn('modes', `"${stateDir}" does not exist`, 'The service makes it when it starts'));
  } else if ((state.mode & 0o077) !== 0) {
    findings.push(failed('modes', `"${stateDir}" is open to others`, `chmod 0700 ${stateDir}`));
  } else {
    findings.push(...checkStateFiles(stateDir, state));
  }
  const key = settings.get('BURROW_GATEWAY_KEY_FILE');
  const keyStats = key === undefined ? undefined : look(key);
  if (keyStats !== undefined && (keyStats.mode & OTHERS_MAY_READ) !== 0)
    findings.push(
      failed(
        'modes',
        `Key file "${key}" can be read by everyone`,
        `chmod 0640 ${key}; chown root:burrow ${key}`,
      ),
    );
  return findings.length > 0 ? findings : [ok('modes', 'Settings and state are for the service alone')];
}

function checkStateFiles(stateDir: string, state: Stats): Finding[] {
  let names: string[];
  try {
    names = readdirSync(stateDir);
  } catch {
    return [skipped('modes', `"${stateDir}" cannot be read by this user; run this as root`)];
  }
  const open = names.filter((name) => ((look(join(stateDir, name))?.mode ?? 0) & 0o077) !== 0);
  const foreign = names.filter((name) => (look(join(stateDir, name))?.uid ?? state.uid) !== state.uid);
  return [
    ...open.map((name) =>
      failed('modes', `"${name}" in "${stateDir}" is open to others`, `chmod 0600 ${join(stateDir, name)}`),
    ),
    ...foreign.map((name) =>
      failed(
        'modes',
        `"${name}" does not belong to the owner of "${stateDir}"`,
        `chown --reference ${stateDir} ${join(stateDir, name)}`,
      ),
    ),
  ];
}

export function checkDisk({ stateDir }: HostPaths): Finding {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(stateDir);
    const freeBytes = bavail * bsize;
    const free = `${formatSizeBytes(freeBytes)} free at "${stateDir}"`;
    const next = 'Free some space; until then outcomes are kept in memory only';
    if (files > 0 && ffree === 0) return failed('disk', `No inodes left at "${stateDir}"`, next);
    if (freeBytes < MIN_FREE_BYTES) return failed('disk', free, next);
    return freeBytes < LOW_FREE_BYTES ? warn('disk', free, next) : ok('disk', free);
  } catch (error) {
    return skipped('disk', `"${stateDir}" cannot be asked: ${codeOf(error)}`);
  }
}

/** From the files; what the running service says of it is another check. */
export function checkJournal({ stateDir }: HostPaths): Finding {
  let names: string[];
  try {
    names = readdirSync(stateDir);
  } catch (error) {
    return skipped('journal', `"${stateDir}" cannot be read: ${codeOf(error)}`);
  }
  const damaged = names.filter((name) => name.includes('.damaged-'));
  const [first] = damaged;
  if (first === undefined)
    return ok('journal', names.includes('operations.json') ? 'Present' : 'Nothing recorded yet');
  const next = `Its outcomes are lost to replay. Look at it, then remove it: rm ${join(stateDir, first)}`;
  return warn('journal', `A damaged journal was set aside: "${first}"`, next);
}

export function checkClock({ stateDir }: HostPaths, clock: Clock): Finding {
  const nowMs = clock.wallMs();
  const newestMs = newestFileMs(stateDir);
  if (newestMs === undefined) return ok('clock', new Date(nowMs).toISOString());
  const aheadMs = newestMs - nowMs;
  if (aheadMs <= CLOCK_TOLERANCE_MS) return ok('clock', new Date(nowMs).toISOString());
  const detail = `Files of "${stateDir}" are ${Math.round(aheadMs / 1_000)} s in the future: the clock was set back`;
  return failed(
    'clock',
    detail,
    'Set the clock: timedatectl set-ntp true. Certificates are checked against it',
  );
}

function newestFileMs(directory: string): number | undefined {
  try {
    return Math.max(...readdirSync(directory).map((name) => look(join(directory, name))?.mtimeMs ?? 0), 0);
  } catch {
    // Without a state directory, or the right to read it, there is nothing to compare with.
    return undefined;
  }
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? statSync(path) : lstatSync(path);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
