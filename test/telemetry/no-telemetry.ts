// Telemetry that nobody configured, for tests of other parts.
import { systemClock } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { createTelemetry, readHostTelemetry } from '../../src/telemetry/telemetry.ts';

export const noTelemetry = createTelemetry(
  { clock: systemClock, log: silentLog, readFile: () => Promise.reject(new Error('No file is read here')) },
  { serviceVersion: '0', host: readHostTelemetry({}, silentLog) },
);
