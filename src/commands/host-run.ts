// `burrow host run`: what the unit starts, and what a host without systemd starts by hand. It is `burrow daemon` with the
// places of the package, after its env file was read to the letter: a line that would arrive changed is refused, status 78.

import { readFileSync } from 'node:fs';
import type { Call, Command } from './command.ts';
import { parseEnvFile } from './host-env-file.ts';
import { hostPaths } from './host-paths.ts';
import { EXIT, type System } from './system.ts';

export const hostRunCommand: Command = {
  meta: { name: 'run', description: 'Run the service in the foreground, as its unit does' },
  args: {
    settings: {
      type: 'string',
      valueHint: 'FILE',
      description: 'Settings, one NAME=VALUE a line (default: /etc/burrow-host-gateway/gateway.env)',
    },
    'state-dir': {
      type: 'string',
      valueHint: 'DIR',
      description: 'State of the service (default: BURROW_GATEWAY_STATE_DIR, /var/lib/burrow-host-gateway)',
    },
    socket: {
      type: 'string',
      valueHint: 'PATH',
      description: 'Local socket (default: /run/burrow-host-gateway/gateway.sock)',
    },
  },
  examples: [
    { command: 'sudo -u burrow burrow host run', does: 'run the service where there is no systemd' },
    {
      command: 'burrow host run --settings ./gateway.env --state-dir ./state --socket ./burrow.sock',
      does: 'try settings out, beside the service and with a state of its own',
    },
  ],
  run: runHost,
};

async function runHost({ flags, system }: Call): Promise<number> {
  const paths = hostPaths(undefined);
  const settings = readSettings(flags['settings'], paths.envFile, system);
  if (settings === undefined) return EXIT.configuration;
  const { daemonCommand } = await import('./daemon.ts');
  const env = { BURROW_GATEWAY_STATE_DIR: paths.stateDir, ...system.env, ...settings };
  // Not a copy: reading a stream of the system opens it.
  const world: System = Object.create(system, { env: { value: env } });
  const socket = typeof flags['socket'] === 'string' ? flags['socket'] : paths.socket;
  const stateDir = flags['state-dir'];
  const call = { flags: { socket, 'state-dir': stateDir }, positionals: [], rest: undefined, system: world };
  return daemonCommand.run?.(call) ?? EXIT.failed;
}

/** Undefined when the file cannot work; why was said. Without `named` it is `usual`, and no file there is no settings. */
function readSettings(
  named: Call['flags'][string],
  usual: string,
  system: System,
): Record<string, string> | undefined {
  const file = typeof named === 'string' ? named : usual;
  const say = (text: string): void => void system.stderr.write(`burrow: ${text}\n`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const errno = error instanceof Error && 'code' in error ? error.code : undefined;
    if (errno === 'ENOENT' && named === undefined) return {};
    say(`Cannot read the settings "${file}" (${String(errno ?? error)})`);
    return undefined;
  }
  const { values, problems } = parseEnvFile(text);
  for (const { line, message } of problems) say(`${file}:${line}: ${message}`);
  return problems.length > 0 ? undefined : Object.fromEntries(values);
}
