// `burrow host configure`: writes the service's env file, keeping comments, order, owner and what it was not asked to change.
// What is known not to work is refused before anything is written. It starts nothing: `burrow host connect` does.

import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import * as v from 'valibot';
import { GatewayIdSchema } from '../protocol/auth.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { parseEnvFile, setEnvValue } from './host-env-file.ts';
import { type HostPaths, hostPaths, ROOT_FLAG } from './host-paths.ts';
import { readSettings, writeRunAs, writeSettings } from './host-settings.ts';
import { EXIT, type System } from './system.ts';

const TOKEN = 'BURROW_GATEWAY_ENROLLMENT_TOKEN';
const SERVER_NAME = 'BURROW_GATEWAY_CONTROLLER_SERVER_NAME';
const VARIABLES: Readonly<Record<string, string>> = {
  controller: 'BURROW_GATEWAY_CONTROLLER_URL',
  'controller-server-name': SERVER_NAME,
  'gateway-id': 'BURROW_GATEWAY_ID',
  ca: 'BURROW_GATEWAY_CA_FILE',
  cert: 'BURROW_GATEWAY_CERT_FILE',
  key: 'BURROW_GATEWAY_KEY_FILE',
};

export const hostConfigureCommand: Command = {
  meta: { name: 'configure', description: 'Write the settings of the service; an empty value takes one out' },
  args: {
    controller: {
      type: 'string',
      mayBeEmpty: true,
      valueHint: 'URL',
      description: 'Controller to dial: tls://HOST[:443]',
    },
    'controller-server-name': {
      type: 'string',
      mayBeEmpty: true,
      valueHint: 'NAME',
      description: 'Name in its certificate, when that is not HOST',
    },
    'gateway-id': {
      type: 'string',
      mayBeEmpty: true,
      valueHint: 'ID',
      description: 'Name of this host at its controller',
    },
    ca: {
      type: 'string',
      mayBeEmpty: true,
      valueHint: 'FILE',
      description: 'Authorities that may sign the controller',
    },
    cert: {
      type: 'string',
      mayBeEmpty: true,
      valueHint: 'FILE',
      description: 'Certificate to show to the controller',
    },
    key: { type: 'string', mayBeEmpty: true, valueHint: 'FILE', description: 'Its private key' },
    'token-file': {
      type: 'string',
      valueHint: 'FILE',
      description: 'Read an enrollment token from FILE, or from standard input for -',
    },
    set: {
      type: 'string',
      valueHint: 'NAME=VALUE',
      description: 'Set any other variable; may be given again',
      multiple: true,
    },
    'run-as': {
      type: 'string',
      mayBeEmpty: true,
      valueHint: 'USER',
      description: 'Run the service, and so the commands, as USER (default: burrow)',
    },
    ...ROOT_FLAG,
  },
  examples: [
    {
      command: 'burrow host configure --controller tls://control.example:7443 --gateway-id host-1',
      does: 'say where the service dials in and under which name',
    },
    { command: 'burrow host configure --run-as root', does: 'let a controller administer this host' },
  ],
  run: configure,
};

async function configure({ flags, system }: Call): Promise<number> {
  const paths = hostPaths(flags['root']);
  const changes = await readChanges(flags, system);
  const runAs = flags['run-as'];
  if (changes.size === 0 && runAs === undefined) throw new UsageError('Nothing to configure was given');
  const before = await readSettings(paths);
  let after = before;
  for (const [name, value] of changes) after = changed(after, name, value);
  await check(after, paths);
  if (after !== before) await writeSettings(paths, after);
  if (typeof runAs === 'string') await writeRunAs(paths, runAs);
  for (const [name, value] of changes) {
    system.stdout.write(`${value === undefined ? `${name} taken out` : `${name} set`}\n`);
  }
  if (typeof runAs === 'string') system.stdout.write(`Commands run as ${runAs === '' ? 'burrow' : runAs}\n`);
  system.stderr.write(
    paths.root === undefined ? 'To apply: burrow host connect\n' : `Written below "${paths.root}"\n`,
  );
  return EXIT.done;
}

async function readChanges(flags: Call['flags'], system: System): Promise<Map<string, string | undefined>> {
  const changes = new Map<string, string | undefined>();
  for (const [flag, variable] of Object.entries(VARIABLES)) {
    const value = flags[flag];
    if (typeof value === 'string') changes.set(variable, value === '' ? undefined : value);
  }
  for (const assignment of Array.isArray(flags['set']) ? flags['set'] : []) {
    const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(assignment) ?? [];
    if (name === undefined) throw new UsageError(`Flag "--set" takes NAME=VALUE, not "${assignment}"`);
    changes.set(name, value === '' ? undefined : value);
  }
  const tokenFile = flags['token-file'];
  // Not a flag of its own: everyone on the host can read the arguments of a process.
  if (typeof tokenFile === 'string') changes.set(TOKEN, await readToken(tokenFile, system));
  return changes;
}

/** Without the newline that editors put at the end. */
async function readToken(file: string, system: System): Promise<string | undefined> {
  const content = file === '-' ? await readAll(system.stdin) : await readFile(file, 'utf8');
  const token = content.replace(/\r?\n$/, '');
  return token === '' ? undefined : token;
}

function changed(text: string, name: string, value: string | undefined): string {
  try {
    return setEnvValue(text, name, value);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`${name} cannot be set: ${error.message}`) : error;
  }
}

/** Throws UsageError for what the service would refuse. */
async function check(text: string, paths: HostPaths): Promise<void> {
  const { values, problems } = parseEnvFile(text);
  const [first] = problems;
  if (first !== undefined) {
    throw new UsageError(`${paths.envFile}:${first.line}: ${first.message}`, 'Correct that line first');
  }
  const url = values.get('BURROW_GATEWAY_CONTROLLER_URL');
  const id = values.get('BURROW_GATEWAY_ID');
  if (id !== undefined && !v.is(GatewayIdSchema, id))
    throw new UsageError(`Gateway id "${id}" cannot be used`);
  if (url === undefined) return;
  if (id === undefined)
    throw new UsageError('A controller needs a name for this host', 'Add --gateway-id ID');
  const { parseControllerUrl } = await import('../transport/tls/tls.ts');
  try {
    parseControllerUrl(url, values.get(SERVER_NAME));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
