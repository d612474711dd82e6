// Every number of the contract, named, with its unit. Nothing else in the code states one of these again.

export const PROTOCOL_VERSION = '1.0';
export const GATEWAY_NAME = 'burrow-host-gateway';

/** Longest line in either direction, newline included. */
export const MAX_FRAME_BYTES = 2 * 1024 * 1024;
/** Over TLS: deployed controllers hold the tail of one line and the head of the next against the same 2 MiB. */
export const MAX_TLS_FRAME_BYTES = MAX_FRAME_BYTES - 128 * 1024;
/** Deepest nesting taken in a request's params. */
export const MAX_PARAMS_DEPTH = 1_000;

export const DEFAULT_TIMEOUT_MS = 30_000;
export const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;
/** From SIGTERM to SIGKILL when an operation is cancelled or out of time. */
export const KILL_GRACE_MS = 1_000;
/** From SIGKILL to settling with what is known, when something left the group and holds the pipes. */
export const KILL_SETTLE_MS = 100;
/** The main process ended: pipes silent for this long settle the operation as lingering. */
export const LINGER_SILENCE_MS = 500;
/** The main process ended: settle as lingering after this long even if the background still writes. */
export const LINGER_MAX_MS = 5_000;
export const MAX_OPERATION_ID_CHARACTERS = 256;
export const DEFAULT_MAX_ACTIVE_OPERATIONS = 1_024;

export const JOURNAL_TTL_MS = 5 * 60 * 1_000;
export const JOURNAL_MAX_ENTRIES = 256;

/** From a stop request to the end of the process. */
export const STOP_LIMIT_MS = 3_000;
