// Every number of the Octonode contract and of this engine, named, with its unit.

export const OCTONODE_VERSION = '1';

/** From the call to TIMEOUT when the caller names no time. */
export const DEFAULT_NODE_TIMEOUT_MS = 30_000;
/** Longest answer: the whole stdout of a one-shot process, one line of a worker. */
export const DEFAULT_MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** What is kept of stderr for errors. */
export const STDERR_TAIL_BYTES = 4 * 1024;
/** Longest `details.excerpt`. */
export const MAX_EXCERPT_CHARACTERS = 500;
/** Longest name of a command in a message. */
export const MAX_LABEL_CHARACTERS = 160;
/** A node that answered, closed its output or left its pipes to a grandchild may stay this long. */
export const ANSWER_GRACE_MS = 1_000;
/** More schema errors than this are not listed. */
export const MAX_SCHEMA_ERRORS = 20;
/** Compiled schemas kept by their text, for manifests that are read anew for every call. */
export const MAX_COMPILED_SCHEMAS = 128;

export const DEFAULT_WORKER_CONCURRENCY = 8;
/** Calls that wait for a place in the worker; one more is refused at once, retryable. */
export const DEFAULT_WORKER_QUEUE = 10_000;
/** A worker or a warm process that nobody needs ends after this long. */
export const DEFAULT_IDLE_MS = 60_000;
/** From the end of a worker's input to its kill when it is closed. */
export const CLOSE_GRACE_MS = 1_000;
/** Small messages of one turn go out together, up to this much, so that the other side can begin with the first. */
export const BATCH_CHARACTERS = 8 * 1024;
/** A worker whose process ended or closed its output must be gone, pipes and all, after this long. */
export const WORKER_LEAVE_MS = 250;
/** Deaths in a row without one answer, after which a worker is given up. */
export const MAX_QUICK_DEATHS = 5;
/** Wait before the start after the first quick death; doubles with each further one. */
export const FIRST_RESTART_DELAY_MS = 50;
/** Processes of a warm node that wait for a request, when the caller names no number; and the most it may name. */
export const DEFAULT_WARM_PROCESSES = 1;
export const MAX_WARM_PROCESSES = 32;
/** A call that takes longer than this does not hold back the start of the next warm process. */
export const WARM_REPLENISH_DELAY_MS = 10;
/** Instances of a service with lifecycle workflow-run that one process keeps; the oldest idle one goes first. */
export const MAX_RUN_INSTANCES = 64;
/** Longest request that a node run by burrow itself takes; a longer line is answered with an error. */
export const MAX_REQUEST_BYTES = 256 * 1024 * 1024;
/** Requests that such a node works on at once; it reads on when one of them is answered. */
export const MAX_HOST_RUNNING = 1_024;
/** How often such a node looks whether anybody is left to read its answers. */
export const READER_CHECK_MS = 1_000;
