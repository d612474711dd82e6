// `burrow controller serve`: the controller as a long-lived process, until SIGTERM or SIGINT.

import { hostname } from 'node:os';
import { parseDurationMs } from '../support/durations.ts';
import type { Log } from '../support/log.ts';
import { keepHeapSmall } from '../support/small-heap.ts';
import { VERSION } from '../version.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { DEFAULT_CONTROLLER_SOCKET } from './controller-call.ts';
import { LOG_LEVEL_FLAG, runLongLived } from './long-lived.ts';
import { EXIT } from './system.ts';

/** What is kept of a stop for the last frames to leave. */
const LAST_WORDS_MS = 1_000;

export const controllerServeCommand: Command = {
  meta: { name: 'serve', description: 'Wait for gateways over TLS and for operators on a unix socket' },
  args: {
    listen: {
      type: 'string',
      valueHint: 'HOST:PORT',
      description: 'Where gateways dial in, such as 0.0.0.0:7443 or [::]:7443',
    },
    'state-dir': {
      type: 'string',
      valueHint: 'DIR',
      description: 'Keeps the key and certificate of the controller, and whom it trusts',
    },
    socket: {
      type: 'string',
      valueHint: 'PATH',
      description: `The operator's socket (default ${DEFAULT_CONTROLLER_SOCKET})`,
    },
    cert: {
      type: 'string',
      valueHint: 'FILE',
      description: 'Certificate in PEM (default: one of its own); SIGHUP reads it again',
    },
    key: { type: 'string', valueHint: 'FILE', description: 'Its key in PEM' },
    name: {
      type: 'string',
      valueHint: 'NAME',
      multiple: true,
      description: 'A further name or address for its own certificate, when that is made; may be given again',
    },
    'handshake-limit': {
      type: 'string',
      valueHint: '10s',
      description: 'For the TLS handshake, and again for the proof of a gateway (default 10s)',
    },
    ...LOG_LEVEL_FLAG,
    json: { type: 'boolean', description: 'Print where it listens as one JSON line on stdout' },
  },
  examples: [
    {
      command: 'burrow controller serve --listen 0.0.0.0:7443 --state-dir /var/lib/burrow-controller',
      does: 'serve with a certificate of its own',
    },
    {
      command:
        'burrow controller serve --listen :7443 --state-dir ctl --socket ctl/op.sock --cert c.pem --key k.pem',
      does: 'serve with given files, on all addresses',
    },
  ],
  run: (call) => runLongLived(call, serve),
};

async function serve({ flags, system }: Call, log: Log): Promise<number> {
  const { host, port } = parseListen(text(flags, 'listen') ?? required('listen', 'HOST:PORT'));
  const stateDirectory = text(flags, 'state-dir') ?? required('state-dir', 'DIR');
  const socket =
    text(flags, 'socket') ?? (system.env['BURROW_CONTROLLER_SOCKET'] || DEFAULT_CONTROLLER_SOCKET);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) system.onSignal(signal, resolve);
  });
  keepHeapSmall(system.clock);
  const { startController } = await import('../controller/controller.ts');
  const { serveUnix } = await import('../transport/unix.ts');
  const names = flags['name'];
  const controller = await startController(
    {
      ...{ host, port, stateDirectory, hostname: hostname(), version: VERSION },
      names: [...(Array.isArray(names) ? names : []), ...(isWildcard(host) ? [] : [host])],
      certificate: certificateFiles(flags),
      ...handshakeLimit(flags),
    },
    { clock: system.clock, log },
  );
  const operators = await serveUnix(controller.operators, { path: socket, log }).catch(
    async (error: unknown) => {
      await controller.close();
      throw error;
    },
  );
  const where = `${host.includes(':') ? `[${host}]` : host}:${controller.port}`;
  log.info(`Listening for gateways on ${where}, certificate ${controller.fingerprint}`);
  if (flags['json'] === true) {
    const { fingerprint, expiresAtMs } = controller;
    system.stdout.write(
      `${JSON.stringify({ listen: where, port: controller.port, socket, fingerprint, expiresAtMs })}\n`,
    );
  }
  const release = system.onSignal('SIGHUP', () => controller.reloadCertificate());
  await stopped;
  release();
  await controller.close();
  const lastWords = new Promise<void>((resolve) => {
    system.clock.startTimer(LAST_WORDS_MS, resolve, { background: true });
  });
  await Promise.race([operators.flushed().then(() => operators.close()), lastWords]);
  return EXIT.done;
}

function parseListen(listen: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(listen);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new UsageError(`Flag "--listen" takes HOST:PORT such as 0.0.0.0:7443, not "${listen}"`);
  return { host: match[1] ?? (match[2] || '::'), port };
}

function certificateFiles(flags: Call['flags']): { certFile: string; keyFile: string } | undefined {
  const [certFile, keyFile] = [text(flags, 'cert'), text(flags, 'key')];
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new UsageError('Flags --cert and --key belong together: give both or none');
}

function handshakeLimit(flags: Call['flags']): { handshakeLimitMs?: number } {
  const given = text(flags, 'handshake-limit');
  if (given === undefined) return {};
  const handshakeLimitMs = parseDurationMs(given);
  if (handshakeLimitMs === undefined)
    throw new UsageError(`Flag "--handshake-limit" takes a duration such as 10s, not "${given}"`);
  return { handshakeLimitMs };
}

function text(flags: Call['flags'], name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function required(flag: string, hint: string): never {
  throw new UsageError(`Flag "--${flag}" is missing`, `It takes ${hint}; --help has examples`);
}

function isWildcard(host: string): boolean {
  return host === '::' || host === '0.0.0.0';
}
