// `burrow host connect`: starts the service, or restarts it with its new settings, and waits until it is connected or can say
// what it waits for. Below a staging root it makes the service start with that system.

import { parseDurationMs } from '../support/durations.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { askService, controllerState } from './host-health.ts';
import { readPairingCode } from './host-pairing.ts';
import { hostPaths, ROOT_FLAG, UNIT } from './host-paths.ts';
import { createSystemctl, isBooted } from './host-systemctl.ts';
import { EXIT, type System } from './system.ts';

const DEFAULT_WAIT_MS = 30_000;
const POLL_MS = 200;

export const hostConnectCommand: Command = {
  meta: { name: 'connect', description: 'Start the service with its settings and wait for the controller' },
  args: {
    timeout: {
      type: 'string',
      valueHint: '30s',
      description: 'Wait this long for the controller (default 30s)',
    },
    ...ROOT_FLAG,
  },
  examples: [
    {
      command: 'burrow host connect',
      does: 'print "connected", or the pairing code that an operator approves',
    },
    { command: 'burrow host connect --root /mnt/image', does: 'let the service start with that system' },
  ],
  run: connect,
};

async function connect({ flags, system }: Call): Promise<number> {
  const paths = hostPaths(flags['root']);
  const systemctl = createSystemctl(system);
  const waitMs = flags['timeout'] === undefined ? DEFAULT_WAIT_MS : parseDurationMs(String(flags['timeout']));
  if (waitMs === undefined) throw new UsageError('Flag "--timeout" takes a duration such as 30s');
  if (paths.root !== undefined) {
    const { exitCode, output } = await systemctl('--root', paths.root, 'enable', UNIT);
    return say(
      system,
      exitCode === 0,
      exitCode === 0 ? `Starts with the system below "${paths.root}"` : output,
    );
  }
  if (!isBooted())
    return say(system, false, 'systemd does not run here. Start the service by hand: burrow host run');
  await systemctl('daemon-reload');
  await systemctl('reset-failed', UNIT);
  const { exitCode, output } = await systemctl('enable', UNIT);
  if (exitCode !== 0) return say(system, false, output);
  const started = await systemctl('restart', UNIT);
  if (started.exitCode !== 0)
    return say(system, false, `${started.output}\nWhy: journalctl -u ${UNIT} -n 20`);
  return waitForController(waitMs, system);
}

async function waitForController(waitMs: number, system: System): Promise<number> {
  const { socket, stateDir } = hostPaths(undefined);
  const endMs = system.clock.monotonicMs() + waitMs;
  let last = 'the service does not answer';
  while (system.clock.monotonicMs() < endMs) {
    const answer = await askService(socket, system);
    if (answer.status === 'ok') {
      const controller = controllerState(answer.health);
      if (controller === undefined) return say(system, true, 'The service runs; no controller is configured');
      if (controller.state === 'connected') return say(system, true, `Connected to ${controller.url}`);
      const code = controller.state === 'pairing' ? readPairingCode(stateDir) : undefined;
      if (code !== undefined) {
        return say(
          system,
          true,
          `Waiting for approval at ${controller.url}: pairing code ${code.pairingCode}`,
        );
      }
      last = `${controller.url} is not reached: ${controller.lastError ?? controller.state}`;
    }
    await new Promise<void>((resolve) => system.clock.startTimer(POLL_MS, resolve));
  }
  return say(system, false, `Not connected: ${last}\nThe service goes on trying. Next: burrow host doctor`);
}

function say(system: System, isDone: boolean, text: string): number {
  if (isDone) system.stdout.write(`${text}\n`);
  else system.stderr.write(`burrow: ${text}\n`);
  return isDone ? EXIT.done : EXIT.failed;
}
