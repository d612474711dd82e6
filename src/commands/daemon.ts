// `burrow daemon`: the gateway as a long-lived process, on a line to its controller, on a unix socket, or else on standard
// input and output, where it ends when its input ends. A configuration that cannot work is one line and status 78;
// SIGTERM, SIGINT, SIGHUP and `shutdown` stop it within three seconds, with terminal evidence for what it cancels.

import { STOP_LIMIT_MS } from '../protocol/defaults.ts';
import { isBurrowError } from '../protocol/errors.ts';
import { ConfigurationError } from '../support/configuration-error.ts';
import type { Log } from '../support/log.ts';
import { keepHeapSmall } from '../support/small-heap.ts';
import type { Call, Command } from './command.ts';
import { UsageError } from './command.ts';
import { NETWORK_FLAGS, planController, setting } from './daemon-network.ts';
import { openServers, type Server } from './daemon-servers.ts';
import { createLocalGateway, type LocalGateway } from './local-gateway.ts';
import { LOG_LEVEL_FLAG, runLongLived } from './long-lived.ts';
import { EXIT, type System } from './system.ts';

/** What is kept of the stop limit for writing the last frames and folding the journal. */
const LAST_WORDS_MS = 500;

export const daemonCommand: Command = {
  meta: {
    name: 'daemon',
    description: 'Serve the gateway protocol: to a controller, on a socket, or on standard input and output',
  },
  args: {
    'state-dir': {
      type: 'string',
      valueHint: 'DIR',
      description:
        'Keep completed outcomes in DIR/operations.json (also BURROW_GATEWAY_STATE_DIR; memory only without)',
    },
    'journal-file': {
      type: 'string',
      valueHint: 'FILE',
      description: 'Keep completed outcomes in FILE instead',
    },
    ...NETWORK_FLAGS,
    'max-operations': {
      type: 'string',
      valueHint: 'N',
      description: 'Most operations that run at once (default 1024)',
    },
    ...LOG_LEVEL_FLAG,
  },
  examples: [
    {
      command: `printf '%s\\n' '{"id":"1","method":"hello"}' | burrow daemon`,
      does: 'ask a gateway for its name and version',
    },
    {
      command:
        'burrow daemon --state-dir /var/lib/burrow --controller tls://control.example --gateway-id host-1',
      does: 'dial out to a controller and take its work',
    },
  ],
  run: (call) => runLongLived(call, serve),
};

async function serve(call: Call, log: Log): Promise<number> {
  const { flags, system } = call;
  keepHeapSmall(system.clock);
  requireWorkingDirectory(system);
  const stop = createStopSignal(system);
  const controller = await planController(call, log);
  let servers: Server[] = [];
  const local = await createLocalGateway(system, {
    journal: journalLocation(call),
    log,
    ...maxOperations(flags),
    onShutdownRequest: () => stop.request('shutdown'),
    gatewayId: controller?.gatewayId,
    transportHealth: () => Object.assign({ ok: true }, ...servers.map((server) => server.health?.())),
  });
  const plan = { controller, socket: setting(call, 'socket') };
  servers = await openServers(plan, local.gateway, { system, log });
  const reason = await Promise.race([stop.requested, ...servers.map((server) => server.ended)]);
  // Everything is answered by now: a slow reader still gets it, for as long as nobody asks for the end.
  if (reason === 'input_ended') await Promise.race([stop.requested, flushAll(servers)]);
  log.debug(`Stopping: ${reason}`);
  await finish(local, servers, system);
  return EXIT.done;
}

/** Where requests run that name no directory. Another one in its place would run them where nobody meant them to. */
function requireWorkingDirectory(system: System): string {
  try {
    return system.cwd;
  } catch (error) {
    if (!isBurrowError(error)) throw error;
    const wanted = error.code === 'working_directory_missing' ? 'that exists' : 'whose whole path is UTF-8';
    throw new ConfigurationError(`${error.message}: start the daemon in a directory ${wanted}`, error);
  }
}

async function flushAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map((server) => server.flushed()));
}

/** Ends what runs, answers it, brings out its spans and folds the journal; gives up on a peer that does not read in time. */
async function finish(
  { gateway, journal, telemetry }: LocalGateway,
  servers: readonly Server[],
  system: System,
): Promise<void> {
  const limit = new Promise<'late'>((resolve) => {
    system.clock.startTimer(STOP_LIMIT_MS - LAST_WORDS_MS, () => resolve('late'), { background: true });
  });
  const stopped = gateway.stop();
  // Of the time that the last words leave, so that a collector that does not answer cannot delay the end.
  const exported = Promise.race([stopped.then(() => telemetry.close()), limit]);
  const outcome = await Promise.race([stopped.then(() => flushAll(servers)), limit]);
  if (outcome === 'late') system.abandonStdout();
  const lastWords = new Promise<void>((resolve) => {
    system.clock.startTimer(LAST_WORDS_MS, resolve, { background: true });
  });
  const closed = Promise.all([journal.close(), ...servers.map((server) => server.close())]);
  await Promise.race([closed, lastWords]);
  await exported;
}

interface StopSignal {
  requested: Promise<string>;
  request(reason: string): void;
}

/** Signals are taken to the very end: a second one must not turn an orderly stop into a kill. */
function createStopSignal(system: System): StopSignal {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    system.onSignal(signal, () => resolve(signal));
  return { requested: promise, request: resolve };
}

function journalLocation(call: Call): Parameters<typeof createLocalGateway>[1]['journal'] {
  const file = call.flags['journal-file'];
  if (typeof file === 'string') return { kind: 'file', path: file };
  const directory = setting(call, 'state-dir');
  if (directory !== undefined) return { kind: 'directory', path: directory };
  return { kind: 'memory' };
}

function maxOperations(flags: Call['flags']): { maxActiveOperations?: number } {
  const text = flags['max-operations'];
  if (text === undefined) return {};
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError(`Flag "--max-operations" takes a positive integer, not "${String(text)}"`);
  return { maxActiveOperations: count };
}
