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
    socket: {
      type: 'string',
      valueHint: 'PATH',
      description: 'Local socket (default: /run/burrow-host-gateway/gateway.sock)',
    },
  },
  examples: [
    { command: 'sudo -u burrow burrow host run', does: 'run the service where there is no systemd' },
    { command: 'burrow host run --settings ./gateway.env --socket ./burrow.sock', does: 'try settings out' },
  ],
  run: runHost,
};

async function runHost({ flags, system }: Call): Promise<number> {
  const paths = hostPaths(undefined);
  const file = typeof flags['settings'] === 'string' ? flags['settings'] : paths.envFile;
  const settings = readSettings(file, system);
  if (settings === undefined) return EXIT.configuration;
  const { daemonCommand } = await import('./daemon.ts');
  const env = { BURROW_GATEWAY_STATE_DIR: paths.stateDir, ...system.env, ...settings };
  // Not a copy: reading a stream of the system opens it.
  const world: System = Object.create(system, { env: { value: env } });
  const socket = typeof flags['socket'] === 'string' ? flags['socket'] : paths.socket;
  const call = { flags: { socket }, positionals: [], rest: undefined, system: world };
  return daemonCommand.run?.(call) ?? EXIT.failed;
}

/** Undefined when the file cannot work; why was said. No file is no settings. */
function readSettings(file: string, system: System): Record<string, string> | undefined {
  const say = (text: string): void => void system.stderr.write(`burrow: ${text}\n`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    say(`Cannot read "${file}": ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  const { values, problems } = parseEnvFile(text);
  for (const { line, message } of problems) say(`${file}:${line}: ${message}`);
  return problems.length > 0 ? undefined : Object.fromEntries(values);
}
