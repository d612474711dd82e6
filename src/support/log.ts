// What a leaf may say to the operator. The real one (commands) writes to stderr; leaves get it handed in.

/**
 * One line per event. error: the operation failed; warn: someone should look; info: state changed; debug: for developers.
 * Never pass a secret, an output, a command or a path of the work being done.
 */
export interface Log {
  error(message: string): void;
  warn(message: string): void;
  info(message: string): void;
  debug(message: string): void;
}

export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
