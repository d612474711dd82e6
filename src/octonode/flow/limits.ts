// Every number of running workflows, named, with its unit.

/** Calls of a flow under way at once, when the caller names no number. */
export const DEFAULT_FLOW_JOBS = 8;
/** Of one attempt, when `runtime.timeout_ms` says nothing. */
export const DEFAULT_ATTEMPT_TIMEOUT_MS = 30_000;
/** Before the first retry, when `runtime.retry_backoff_ms` says nothing; doubles with each further one. */
export const DEFAULT_BACKOFF_MS = 200;
/** Longest wait between two attempts, before jitter. */
export const MAX_BACKOFF_MS = 5 * 60 * 1_000;
/** A wait is lengthened at random by up to this part of itself, never shortened. */
export const JITTER_PART = 0.5;
/** Nodes of one workflow. */
export const MAX_STEPS = 10_000;
/** Cycles named in one check. */
export const MAX_CYCLES = 10;
