// The checks of `burrow host doctor` on the running service: its unit, its answer, its controller, its journal.

import { VERSION } from '../version.ts';
import { type Finding, failed, ok, skipped, warn } from './host-finding.ts';
import { askService, controllerState } from './host-health.ts';
import { type HostPaths, UNIT } from './host-paths.ts';
import { createSystemctl, isBooted, readUnit, type UnitState } from './host-systemctl.ts';
import { EXIT, type System } from './system.ts';

export async function checkService({ socket }: HostPaths, system: System): Promise<Finding[]> {
  const unit = await checkUnit(system);
  const answer = await askService(socket, system);
  if (answer.status === 'silent') {
    const next = unit.status === 'ok' ? `journalctl -u ${UNIT} -n 20` : 'burrow host connect starts it';
    return [unit, failed('service', `No answer on "${socket}": ${answer.reason}`, next)];
  }
  const { hello, health } = answer;
  const version = String(hello['version']);
  const service =
    version === VERSION
      ? ok('service', `Version ${version} answers on "${socket}"`)
      : warn('service', `Version ${version} runs, ${VERSION} is installed`, `systemctl restart ${UNIT}`);
  return [unit, service, checkController(health), checkRunningJournal(health)];
}

async function checkUnit(system: System): Promise<Finding> {
  if (!isBooted()) return skipped('unit', 'systemd does not run here');
  return unitFinding(await readUnit(createSystemctl(system)));
}

function unitFinding(unit: UnitState): Finding {
  if (unit.load === 'not-found') return failed('unit', `${UNIT} is not installed`, 'Install the package');
  if (unit.load === 'masked') return failed('unit', `${UNIT} is masked`, `systemctl unmask ${UNIT}`);
  if (unit.active === 'failed') {
    const isConfiguration = unit.exitStatus === EXIT.configuration;
    const why = isConfiguration ? 'its configuration cannot work (status 78)' : `status ${unit.exitStatus}`;
    return failed('unit', `${UNIT} failed: ${why}`, `journalctl -u ${UNIT} -n 20, then burrow host connect`);
  }
  if (unit.active !== 'active') return failed('unit', `${UNIT} is ${unit.active}`, 'burrow host connect');
  if (unit.needsReload)
    return warn('unit', 'The unit file has changed', 'systemctl daemon-reload; burrow host connect');
  if (unit.unitFile !== 'enabled' && unit.unitFile !== 'enabled-runtime')
    return warn('unit', `${UNIT} runs but does not start with the host`, `systemctl enable ${UNIT}`);
  if (unit.restarts > 0)
    return warn('unit', `${UNIT} was restarted ${unit.restarts} times`, `journalctl -u ${UNIT} says why`);
  return ok('unit', `${UNIT} is active as user ${unit.user}`);
}

function checkController(health: Record<string, unknown>): Finding {
  const controller = controllerState(health);
  if (controller === undefined) return skipped('controller', 'The service dials none');
  const { url, state, lastError } = controller;
  if (state === 'connected') return ok('controller', `Connected to ${url}`);
  if (state === 'pairing')
    return warn(
      'controller',
      `Waits for approval at ${url}`,
      'Approve the code of burrow host pairing-code there',
    );
  const next = 'See reachability above; a wrong identity: burrow host unpair';
  return failed('controller', `Not connected to ${url} (${state}): ${lastError ?? 'no error yet'}`, next);
}

function checkRunningJournal(health: Record<string, unknown>): Finding {
  const journal = (health['journal'] ?? {}) as { state?: unknown; mode?: unknown; warnings?: unknown };
  const warnings = Array.isArray(journal.warnings) ? journal.warnings.map(String) : [];
  if (journal.state !== 'ok')
    return failed('journal', warnings.at(-1) ?? `State ${String(journal.state)}`, 'See disk and modes above');
  const [first] = warnings;
  return first === undefined
    ? ok('journal', `Written to ${String(journal.mode)}`)
    : warn('journal', first, 'Nothing to do when it is known');
}
