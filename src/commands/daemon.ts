// `burrow daemon`: the gateway as a long-lived process. Over standard input and output it ends when its input ends;
// SIGTERM, SIGINT and `shutdown` stop it within three seconds, with terminal evidence for what it cancels.

import { STOP_LIMIT_MS } from '../protocol/defaults.ts';
import { type StdioServer, serveStdio } from '../transport/stdio.ts';
import type { Call, Command } from './command.ts';
import { UsageError } from './command.ts';
import { createLocalGateway, type LocalGateway } from './local-gateway.ts';
import { EXIT, type System } from './system.ts';

/** What is kept of the stop limit for writing the last frames and folding the journal. */
const LAST_WORDS_MS = 500;

export const daemonCommand: Command = {
  meta: {
    name: 'daemon',
    description: 'Serve the gateway protocol: JSON lines on standard input and output',
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
    'max-operations': {
      type: 'string',
      valueHint: 'N',
      description: 'Most operations that run at once (default 1024)',
    },
    'log-level': {
      type: 'string',
      valueHint: 'LEVEL',
      description: 'error, warn, info or debug (default info), on stderr',
    },
  },
  examples: [
    {
      command: `printf '%s\\n' '{"id":"1","method":"hello"}' | burrow daemon`,
      does: 'ask a gateway for its name and version',
    },
    {
      command: 'burrow daemon --state-dir /var/lib/burrow',
      does: 'replay completed operations also after a restart',
    },
  ],
  run: runDaemon,
};

async function runDaemon({ flags, system }: Call): Promise<number> {
  const { createConsoleLog } = await import('../support/console-log.ts');
  // The stream is opened by the first line that is logged: most starts have none.
  const stderr = { write: (text: string) => system.stderr.write(text) };
  const log = createConsoleLog({
    stderr,
    level: logLevel(flags),
    journald: system.env['JOURNAL_STREAM'] !== undefined,
  });
  const stop = createStopSignal(system);
  const local = await createLocalGateway(system, {
    journal: journalLocation(flags, system),
    log,
    ...maxOperations(flags),
    onShutdownRequest: () => stop.request('shutdown'),
  });
  const server = serveStdio(local.gateway, { input: system.stdin, output: system.stdout });
  const reason = await Promise.race([stop.requested, server.ended]);
  // Everything is answered by now: a slow reader still gets it, for as long as nobody asks for the end.
  if (reason === 'input_ended') await Promise.race([stop.requested, server.flushed()]);
  log.debug(`Stopping: ${reason}`);
  await finish(local, server, system);
  return EXIT.done;
}

/** Ends what runs, answers it, brings out its spans and folds the journal; gives up on a peer that does not read in time. */
async function finish(
  { gateway, journal, telemetry }: LocalGateway,
  server: StdioServer,
  system: System,
): Promise<void> {
  const limit = new Promise<'late'>((resolve) => {
    system.clock.startTimer(STOP_LIMIT_MS - LAST_WORDS_MS, () => resolve('late'), { background: true });
  });
  const stopped = gateway.stop();
  // Of the time that the last words leave, so that a collector that does not answer cannot delay the end.
  const exported = Promise.race([stopped.then(() => telemetry.close()), limit]);
  const outcome = await Promise.race([stopped.then(() => server.flushed()), limit]);
  if (outcome === 'late') system.abandonStdout();
  const lastWords = new Promise<void>((resolve) => {
    system.clock.startTimer(LAST_WORDS_MS, resolve, { background: true });
  });
  await Promise.race([journal.close(), lastWords]);
  await exported;
}

interface StopSignal {
  requested: Promise<string>;
  request(reason: string): void;
}

/** Signals are taken to the very end: a second one must not turn an orderly stop into a kill. */
function createStopSignal(system: System): StopSignal {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) system.onSignal(signal, () => resolve(signal));
  return { requested: promise, request: resolve };
}

function journalLocation(
  flags: Call['flags'],
  system: System,
): Parameters<typeof createLocalGateway>[1]['journal'] {
  const file = flags['journal-file'];
  if (typeof file === 'string' && file !== '') return { kind: 'file', path: file };
  const directory = flags['state-dir'] ?? system.env['BURROW_GATEWAY_STATE_DIR'];
  if (typeof directory === 'string' && directory !== '') return { kind: 'directory', path: directory };
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

function logLevel(flags: Call['flags']): 'error' | 'warn' | 'info' | 'debug' {
  const text = flags['log-level'] ?? 'info';
  if (text === 'error' || text === 'warn' || text === 'info' || text === 'debug') return text;
  throw new UsageError(`Flag "--log-level" takes error, warn, info or debug, not "${String(text)}"`);
}
