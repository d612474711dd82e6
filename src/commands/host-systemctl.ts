// systemctl, asked and told by the host commands. It never guesses: a host without systemd is an answer of its own.

import { existsSync } from 'node:fs';
import { launchWithNode } from '../process/launcher.ts';
import { UNIT } from './host-paths.ts';
import type { System } from './system.ts';

/** A start waits for the unit, which has 10 s to stop first. */
const SYSTEMCTL_LIMIT_MS = 60_000;
/** systemctl answers in a few lines; more is not kept. */
const MAX_ANSWER_BYTES = 256 * 1024;

export interface UnitState {
  /** Of systemctl show: `active`, `inactive`, `failed`, `activating`, … */
  active: string;
  sub: string;
  /** `enabled`, `disabled`, `masked`, … */
  unitFile: string;
  /** `loaded`, or `not-found` where the package is not installed. */
  load: string;
  user: string;
  mainPid: number;
  restarts: number;
  /** Of the last main process; undefined while none has ended. */
  exitStatus: number | undefined;
  needsReload: boolean;
}

export type Systemctl = (...args: string[]) => Promise<{ exitCode: number; output: string }>;

/** Whether systemd is the init system of this host (sd_booted(3)). */
export function isBooted(): boolean {
  return existsSync('/run/systemd/system');
}

/** Runs systemctl and answers what it wrote on both streams; an exit code of 127 when there is none. */
export function createSystemctl(system: System): Systemctl {
  return (...args) =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      const finish = (exitCode: number): void => {
        timer.cancel();
        resolve({ exitCode, output: Buffer.concat(chunks).toString().trim() });
      };
      const child = launchWithNode(
        { file: 'systemctl', args, cwd: '/', env: environment(system), stdin: 'null' },
        {
          onChunk(_stream, chunk) {
            if (sizeBytes < MAX_ANSWER_BYTES) chunks.push(chunk);
            sizeBytes += chunk.length;
          },
          onPipeEnd() {},
          onExit: (exitCode) => setImmediate(finish, exitCode ?? 1),
          onFailed: () => finish(127),
        },
      );
      const timer = system.clock.startTimer(SYSTEMCTL_LIMIT_MS, () => child?.signal('SIGKILL'));
    });
}

export async function readUnit(systemctl: Systemctl): Promise<UnitState> {
  const names =
    'ActiveState,SubState,UnitFileState,LoadState,User,MainPID,NRestarts,ExecMainStatus,ExecMainCode';
  const { output } = await systemctl('show', UNIT, '-p', `${names},NeedDaemonReload`);
  const values = new Map<string, string>();
  for (const line of output.split('\n')) {
    const [name = '', value = ''] = line.split('=', 2);
    values.set(name, value);
  }
  const text = (name: string): string => values.get(name) ?? '';
  return {
    active: text('ActiveState') || 'unknown',
    sub: text('SubState'),
    unitFile: text('UnitFileState') || 'unknown',
    load: text('LoadState') || 'unknown',
    user: text('User') || 'root',
    mainPid: Number(text('MainPID')),
    restarts: Number(text('NRestarts')),
    exitStatus: text('ExecMainCode') === '0' ? undefined : Number(text('ExecMainStatus')),
    needsReload: text('NeedDaemonReload') === 'yes',
  };
}

function environment({ env }: System): Record<string, string> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(kept), LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' };
}
