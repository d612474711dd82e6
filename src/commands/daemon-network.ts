// Where a daemon is told to serve: a controller to dial out to, a unix socket for operators, both, or neither (stdio then).
// Everything that can be known to be wrong is found here, before anything is started.

import * as v from 'valibot';
import { loadCrypto } from '../support/builtins.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import type { Log } from '../support/log.ts';
import { Secret } from '../support/secret.ts';
import type { ControllerAddress, TlsFiles, Trust } from '../transport/tls/tls.ts';
import type { Call, Flag } from './command.ts';
import type { System } from './system.ts';

export const NETWORK_FLAGS: Readonly<Record<string, Flag>> = {
  controller: {
    type: 'string',
    valueHint: 'URL',
    description: 'Dial out to the controller at tls://HOST[:443] (also BURROW_GATEWAY_CONTROLLER_URL)',
  },
  'controller-server-name': {
    type: 'string',
    valueHint: 'NAME',
    description:
      'Name to ask for and to find in its certificate, when that is not HOST (also BURROW_GATEWAY_CONTROLLER_SERVER_NAME)',
  },
  'gateway-id': {
    type: 'string',
    valueHint: 'ID',
    description: 'Name of this host at its controller (also BURROW_GATEWAY_ID)',
  },
  ca: {
    type: 'string',
    valueHint: 'FILE',
    description: 'Authorities that may sign the controller (also BURROW_GATEWAY_CA_FILE)',
  },
  cert: {
    type: 'string',
    valueHint: 'FILE',
    description: 'Certificate to show to the controller (also BURROW_GATEWAY_CERT_FILE)',
  },
  key: { type: 'string', valueHint: 'FILE', description: 'Its private key (also BURROW_GATEWAY_KEY_FILE)' },
  socket: {
    type: 'string',
    valueHint: 'PATH',
    description: 'Serve operators of this host on a unix socket, mode 0660',
  },
};

const ENVIRONMENT: Readonly<Record<string, string>> = {
  controller: 'BURROW_GATEWAY_CONTROLLER_URL',
  'controller-server-name': 'BURROW_GATEWAY_CONTROLLER_SERVER_NAME',
  'gateway-id': 'BURROW_GATEWAY_ID',
  'state-dir': 'BURROW_GATEWAY_STATE_DIR',
  ca: 'BURROW_GATEWAY_CA_FILE',
  cert: 'BURROW_GATEWAY_CERT_FILE',
  key: 'BURROW_GATEWAY_KEY_FILE',
};
const CONTROLLER_ONLY = ['gateway-id', 'controller-server-name', 'ca', 'cert', 'key'];
const TOKEN_VARIABLE = 'BURROW_GATEWAY_ENROLLMENT_TOKEN';

export interface ControllerPlan {
  address: ControllerAddress;
  gatewayId: string;
  trust: Trust;
  files: TlsFiles;
}

/** The flag, else its variable; undefined when neither says anything. An empty variable says nothing; an empty flag is bad usage. */
export function setting({ flags, system }: Call, name: string): string | undefined {
  const flag = flags[name];
  if (typeof flag === 'string') return flag;
  const variable = ENVIRONMENT[name];
  return (variable === undefined ? undefined : system.env[variable]) || undefined;
}

/** Undefined when no controller is configured. Throws ConfigurationError when what is configured cannot work. */
export async function planController(call: Call, log: Log): Promise<ControllerPlan | undefined> {
  const url = setting(call, 'controller');
  if (url === undefined) return refuseUnused(call);
  // Sockets and certificates cost start-up time that a daemon on stdio does not pay.
  const { openTlsFiles, openTrust, parseControllerUrl } = await import('../transport/tls/tls.ts');
  const { GatewayIdSchema } = await import('../protocol/auth.ts');
  const address = parseControllerUrl(url, setting(call, 'controller-server-name'));
  const gatewayId = required(call, 'gateway-id', 'Name of this host at its controller');
  if (!v.safeParse(GatewayIdSchema, gatewayId).success) {
    throw new ConfigurationError(
      `Gateway id ${JSON.stringify(gatewayId.slice(0, 300))} is longer than 256 characters or holds a control character: choose another`,
    );
  }
  const directory = required(call, 'state-dir', 'State directory');
  const paths = {
    caFile: setting(call, 'ca'),
    certFile: setting(call, 'cert'),
    keyFile: setting(call, 'key'),
  };
  const files = openTlsFiles(paths, log);
  const enrollmentToken = readToken(call.system);
  const trust = await openTrust({ directory, gatewayId, enrollmentToken }, { clock: call.system.clock, log });
  // Makes the identity now, so that a directory that cannot be written to is known at the start.
  await trust.credentials();
  return { address, gatewayId, trust, files };
}

/** A flag that only a controller gives a meaning. Its variable alone is taken: a service may wait for its controller. */
function refuseUnused({ flags }: Call): undefined {
  const unused = CONTROLLER_ONLY.find((name) => flags[name] !== undefined);
  if (unused === undefined) return undefined;
  throw new ConfigurationError(
    `Controller is missing, and "--${unused}" is of use with one only: give --controller or set ${ENVIRONMENT['controller']}`,
  );
}

function required(call: Call, name: string, what: string): string {
  const value = setting(call, name);
  if (value !== undefined) return value;
  throw new ConfigurationError(`${what} is missing: give --${name} or set ${ENVIRONMENT[name]}`);
}

/** Exactly as it was set: a copy that lost or gained a character is told by its length and digest, never by its text. */
function readToken({ env }: System): Secret | undefined {
  const token = env[TOKEN_VARIABLE];
  if (token === undefined || token === '') return undefined;
  if (token.trim() === token && !/[\u0000-\u001f\u007f]/.test(token)) return new Secret(token);
  const digest = loadCrypto().hash('sha256', token).slice(0, 12);
  throw new ConfigurationError(
    `${TOKEN_VARIABLE} begins or ends in white space or holds a control character (${token.length} characters, sha256 ${digest}…): set it again`,
  );
}
