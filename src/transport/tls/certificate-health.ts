// When certificates run out, as `health` tells it: early enough to be renewed in working hours.

import type { CertificateExpiry } from './tls-files.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** From here on health is degraded. */
const WARN_DAYS = 14;

export interface CertificateHealth {
  certificate: CertificateExpiry['certificate'];
  expiresAt: string;
  /** Whole days that are left; negative once it has expired. */
  daysLeft: number;
  state: 'ok' | 'expiring' | 'expired';
}

export function describeCertificate(
  { certificate, expiresAtMs }: CertificateExpiry,
  nowMs: number,
): CertificateHealth {
  const leftMs = expiresAtMs - nowMs;
  return {
    certificate,
    expiresAt: new Date(expiresAtMs).toISOString(),
    daysLeft: Math.floor(leftMs / DAY_MS),
    state: leftMs <= 0 ? 'expired' : leftMs <= WARN_DAYS * DAY_MS ? 'expiring' : 'ok',
  };
}
