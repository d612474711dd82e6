// Wires a real gateway of this host: launcher, clock, journal, environment. Used by the daemon and by every command
// that runs its own private gateway.

import { createGateway, type GatewayDeps, type OwnedGateway } from '../gateway/gateway.ts';
import { type Journal, type JournalOptions, openJournal } from '../gateway/journal/journal.ts';
import { createChildEnvironment, createProcessDeps, runProcess } from '../process/process.ts';
import { DEFAULT_MAX_ACTIVE_OPERATIONS } from '../protocol/defaults.ts';
import type { Log } from '../support/log.ts';
import { createTelemetry, readHostTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import { VERSION } from '../version.ts';
import { createLazyFilesystem } from './lazy-filesystem.ts';
import type { System } from './system.ts';

export interface LocalGatewayOptions {
  journal: JournalOptions['location'];
  log: Log;
  maxActiveOperations?: number;
  onShutdownRequest?: () => void;
  /** The name of this host at its controller. */
  gatewayId?: string | undefined;
  transportHealth?: NonNullable<GatewayDeps['transportHealth']>;
}

export interface LocalGateway {
  gateway: OwnedGateway;
  journal: Journal;
  telemetry: Telemetry;
}

export async function createLocalGateway(
  system: System,
  options: LocalGatewayOptions,
): Promise<LocalGateway> {
  const { clock } = system;
  const { log } = options;
  const journal = await openJournal({ location: options.journal }, { clock, log });
  const deps = createProcessDeps(clock);
  const stateDirectory = options.journal.kind === 'directory' ? options.journal.path : undefined;
  const telemetry = createTelemetry(
    { clock, log, readFile: async (path) => (await import('node:fs/promises')).readFile(path) },
    { serviceVersion: VERSION, host: readHostTelemetry(system.env, log) },
  );
  const gateway = createGateway(
    {
      clock,
      log,
      version: VERSION,
      journal,
      ...(options.transportHealth === undefined ? {} : { transportHealth: options.transportHealth }),
      telemetry,
      gatewayId: options.gatewayId ?? (system.env['BURROW_GATEWAY_ID'] || 'local'),
      // Asked for by requests that need it: a command that names its own directory runs also where this one is gone.
      cwd: () => system.cwd,
      childEnvironment: createChildEnvironment(system.env),
      startProcess: (request, events, redaction) =>
        runProcess(
          request,
          events,
          redaction === undefined ? deps : { ...deps, createFilter: redaction.createFilter },
        ),
      runFilesystemTool: createLazyFilesystem({ system, log }, stateDirectory),
    },
    {
      maxActiveOperations: options.maxActiveOperations ?? DEFAULT_MAX_ACTIVE_OPERATIONS,
      onShutdownRequest: options.onShutdownRequest ?? (() => {}),
    },
  );
  return { gateway, journal, telemetry };
}
