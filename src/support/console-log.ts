// The log that people and journald read: one line per event on stderr, through consola.

import { type ConsolaInstance, createConsola, type LogObject } from 'consola/core';
import type { Log } from './log.ts';

export interface ConsoleLogOptions {
  stderr: { write(text: string): unknown };
  level: 'error' | 'warn' | 'info' | 'debug';
  /** Under systemd a line starts with its syslog priority (`<3>` to `<7>`, sd-daemon(3)) and journald adds the time. */
  journald: boolean;
}

const PRIORITY: Record<string, number> = { error: 3, warn: 4, info: 6, debug: 7 };
const CONSOLA_LEVEL = { error: 0, warn: 1, info: 3, debug: 4 };

export function createConsoleLog(options: ConsoleLogOptions): Log {
  const consola: ConsolaInstance = createConsola({
    level: CONSOLA_LEVEL[options.level],
    // A repeated line is evidence too: nothing is folded.
    throttle: 0,
    reporters: [{ log: (entry) => void options.stderr.write(formatEntry(entry, options.journald)) }],
  });
  return {
    error: (message) => consola.error(message),
    warn: (message) => consola.warn(message),
    info: (message) => consola.info(message),
    debug: (message) => consola.debug(message),
  };
}

function formatEntry(entry: LogObject, journald: boolean): string {
  // One event is one line, whatever text it quotes.
  const message = entry.args
    .map(String)
    .join(' ')
    .replace(/\r?\n\s*/g, ' | ');
  if (journald) return `<${PRIORITY[entry.type] ?? 6}>${message}\n`;
  return `${entry.date.toISOString()} ${entry.type.padEnd(5)} ${message}\n`;
}
