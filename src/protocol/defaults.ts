// Every number of the contract, named, with its unit. Nothing else in the code states one of these again.

export const PROTOCOL_VERSION = '1.0';
export const GATEWAY_NAME = 'burrow-host-gateway';

/** Longest line in either direction, newline included. */
export const MAX_FRAME_BYTES = 2 * 1024 * 1024;
/** Over TLS: deployed controllers hold the tail of one line and the head of the next against the same 2 MiB. */
export const MAX_TLS_FRAME_BYTES = MAX_FRAME_BYTES - 128 * 1024;
/** Of a line over the limit, this much is kept to recover its id. */
export const MAX_OVERSIZED_HEAD_BYTES = 64 * 1024;
/** Longest request id as JSON text: it is echoed in every answer and must leave room there. */
export const MAX_ID_JSON_BYTES = 64 * 1024;
/** Deepest nesting taken in a request's params, the params object itself being 1. */
export const MAX_PARAMS_DEPTH = 1_000;
/** More issues than this are not listed in an error; one more says that there are others. */
export const MAX_ISSUES = 20;
/** Longest message and longest path of an issue in an error. */
export const MAX_ERROR_MESSAGE_BYTES = 4 * 1024;
export const MAX_ISSUE_PATH_BYTES = 256;
/** W3C Trace Context, section 3.3.1.5: the length that has to be passed on. */
export const MAX_TRACESTATE_CHARACTERS = 512;
export const MAX_TRACESTATE_MEMBERS = 32;

export const MAX_TELEMETRY_ENDPOINT_CHARACTERS = 2_048;
export const MAX_TELEMETRY_HEADERS = 64;
/** Names and values of all headers together. */
export const MAX_TELEMETRY_HEADER_CHARACTERS = 16_384;
/** Ended spans that wait for the collector; more are dropped and counted. */
export const MAX_QUEUED_SPANS = 2_048;
/** At a stop, for the spans that wait. */
export const TELEMETRY_FLUSH_MS = 2_000;

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
