// `burrow host doctor`: every check at once, each with what to do next. It changes nothing. Exit 1 when a check failed.

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, Command } from './command.ts';
import {
  checkClock,
  checkConfiguration,
  checkDisk,
  checkJournal,
  checkModes,
  type Settings,
} from './host-check-files.ts';
import { checkNetwork } from './host-check-network.ts';
import { checkService } from './host-check-service.ts';
import { type Finding, failed, ok, skipped } from './host-finding.ts';
import { type HostPaths, hostPaths, ROOT_FLAG, UNIT } from './host-paths.ts';
import { EXIT } from './system.ts';

const MARKS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok      ',
  warn: 'warning ',
  failed: 'FAILED  ',
  skipped: 'skipped ',
};

export const hostDoctorCommand: Command = {
  meta: {
    name: 'doctor',
    description: 'Check configuration, files, network and service; say what to do next',
  },
  args: {
    json: { type: 'boolean', description: 'Print {"ok","findings":[…]} as one JSON line' },
    ...ROOT_FLAG,
  },
  examples: [
    { command: 'burrow host doctor', does: 'print one line a check; exit 1 when one failed' },
    { command: 'burrow host doctor --root /mnt/image', does: 'check a system that does not run' },
  ],
  run: doctor,
};

async function doctor({ flags, system }: Call): Promise<number> {
  const paths = hostPaths(flags['root']);
  const isLive = paths.root === undefined;
  const { findings: configuration, settings: written } = checkConfiguration(paths);
  const settings = below(paths.root, written);
  const findings = [
    ...configuration,
    ...checkModes(paths, settings),
    checkClock(paths, system.clock),
    checkDisk(paths),
    checkJournal(paths),
    ...(await checkNetwork(settings, system, isLive)),
    ...(isLive ? await checkService(paths, system) : checkStaged(paths)),
  ];
  const isWell = findings.every(({ status }) => status !== 'failed');
  const text =
    flags['json'] === true
      ? `${JSON.stringify({ ok: isWell, findings })}\n`
      : findings.map(describe).join('');
  system.stdout.write(text);
  return isWell ? EXIT.done : EXIT.failed;
}

/** Paths in the settings of a staged system are paths in that system. */
function below(root: string | undefined, settings: Settings): Settings {
  if (root === undefined) return settings;
  const entries = [...settings].map(
    ([name, value]) => [name, /^BURROW_.*_FILE$/.test(name) ? join(root, value) : value] as const,
  );
  return new Map(entries);
}

function checkStaged({ unitFile, root }: HostPaths): Finding[] {
  const isInstalled = lstatSync(unitFile, { throwIfNoEntry: false }) !== undefined;
  const unit = isInstalled
    ? ok('unit', `${UNIT} is installed below "${root}"`)
    : failed('unit', `${UNIT} is not installed below "${root}"`, 'Install the package there');
  return [unit, skipped('service', 'A system that does not run has no service')];
}

function describe({ check, status, detail, next }: Finding): string {
  const line = `${MARKS[status]}${check.padEnd(14)}${detail}\n`;
  return next === undefined ? line : `${line}${' '.repeat(22)}→ ${next}\n`;
}
