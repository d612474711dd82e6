// A configuration that cannot work however often it is tried: the command says so in one line and ends with status 78
// (EX_CONFIG, sysexits.h), which a service manager knows not to restart.

/** The message names the setting, quotes the value unless it is a secret, and says what to do. */
export class ConfigurationError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConfigurationError';
  }
}
