// What one check of `burrow host doctor` found.

export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'failed' | 'skipped';
  detail: string;
  /** What the operator does about it; undefined when there is nothing to do. */
  next: string | undefined;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, next: undefined };
}

export function warn(check: string, detail: string, next: string): Finding {
  return { check, status: 'warn', detail, next };
}

export function failed(check: string, detail: string, next: string): Finding {
  return { check, status: 'failed', detail, next };
}

/** Nothing was found out; `detail` says why not. */
export function skipped(check: string, detail: string): Finding {
  return { check, status: 'skipped', detail, next: undefined };
}
