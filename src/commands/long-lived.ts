// What a command that runs until it is stopped does first and last: a log on stderr, of the level that is asked for, and a
// configuration that cannot work as one line and status 78, which a service manager knows not to restart.

import type { Log } from '../support/log.ts';
import { type Call, type Flag, UsageError } from './command.ts';
import { EXIT } from './system.ts';

export const LOG_LEVEL_FLAG: Readonly<Record<string, Flag>> = {
  'log-level': {
    type: 'string',
    valueHint: 'LEVEL',
    choices: ['error', 'warn', 'info', 'debug'],
    description: 'error, warn, info or debug (default info), on stderr',
  },
};

/** The exit status of `serve`. */
export async function runLongLived(
  call: Call,
  serve: (call: Call, log: Log) => Promise<number>,
): Promise<number> {
  const { flags, system } = call;
  const { createConsoleLog } = await import('../support/console-log.ts');
  const log = createConsoleLog({
    // The stream is opened by the first line that is logged: most starts have none.
    stderr: { write: (text: string) => system.stderr.write(text) },
    level: logLevel(flags),
    journald: system.env['JOURNAL_STREAM'] !== undefined,
  });
  try {
    return await serve(call, log);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ConfigurationError') throw error;
    system.stderr.write(`burrow: ${error.message}\n`);
    return EXIT.configuration;
  }
}

function logLevel(flags: Call['flags']): 'error' | 'warn' | 'info' | 'debug' {
  const level = flags['log-level'] ?? 'info';
  if (level === 'error' || level === 'warn' || level === 'info' || level === 'debug') return level;
  throw new UsageError(`Flag "--log-level" takes error, warn, info or debug, not "${String(level)}"`);
}
