// What a node threw, as the error of its answer (octonode.md section 3). Whatever was thrown, this does not throw.

import type { Failure } from '../failures.ts';
import { isNodeError } from '../sdk/sdk.ts';

/** A failure as the host knows it: with the stack of what was thrown, when it had one. */
export type ThrownFailure = Failure & { stack?: string };

/** `NON_RETRYABLE` for a NodeError, or `RUNTIME_ERROR` when it says so; `RUNTIME_ERROR`, not retryable, for all else. */
export function thrownFailure(error: unknown): ThrownFailure {
  const message = messageOf(error);
  if (!isNodeError(error)) return { code: 'RUNTIME_ERROR', message, retryable: false, ...stackOf(error) };
  const details = error.details === undefined ? {} : { details: error.details as Record<string, unknown> };
  return {
    code: error.retryable ? 'RUNTIME_ERROR' : 'NON_RETRYABLE',
    message,
    retryable: error.retryable,
    ...details,
    ...stackOf(error),
  };
}

/**
 * What was thrown outside of every call, for each call it may belong to. With more than one such call at most one of them
 * is to blame, so another attempt may be made. `details.uncaught` tells an engine that this process now ends.
 */
export function uncaughtFailure(error: unknown, { mayRetry }: { mayRetry: boolean }): ThrownFailure {
  return {
    code: 'RUNTIME_ERROR',
    message: messageOf(error),
    retryable: mayRetry,
    details: { uncaught: true },
    ...stackOf(error),
  };
}

export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    // An object without a prototype, or one whose own conversion throws.
    return 'Something was thrown that has no text';
  }
}

export function stackOf(error: unknown): { stack?: string } {
  return error instanceof Error && typeof error.stack === 'string' ? { stack: error.stack } : {};
}
