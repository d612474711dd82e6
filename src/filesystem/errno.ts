// Errors that carry the name of an errno, as the operating system's own do.

/** A failure that the operating system would name with `code`, found by us before it had the chance. */
export function errnoError(code: string, reason: string): Error {
  return Object.assign(new Error(reason), { code });
}

/** The errno name of a system error, or `undefined` when the error is something else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}
