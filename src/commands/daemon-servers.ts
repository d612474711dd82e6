// The ends of a daemon as one kind of thing, whatever they are made of: they end, they are flushed, they are closed.

import type { Gateway } from '../gateway/gateway.ts';
import type { Log } from '../support/log.ts';
import { systemRandom } from '../support/random.ts';
import { serveStdio } from '../transport/stdio.ts';
import { VERSION } from '../version.ts';
import type { ControllerPlan } from './daemon-network.ts';
import type { System } from './system.ts';

export interface Server {
  /** Resolves with the reason when this end is a reason for the daemon to stop; never does for a socket or a controller. */
  ended: Promise<string>;
  /** Resolves when every frame sent so far left. */
  flushed(): Promise<void>;
  close(): Promise<void>;
  health?(): { ok: boolean };
}

/** Standard input and output are served only when there is nothing else. Throws ConfigurationError for a socket that cannot be. */
export async function openServers(
  plan: { controller: ControllerPlan | undefined; socket: string | undefined },
  gateway: Gateway,
  deps: { system: System; log: Log },
): Promise<Server[]> {
  const servers: Server[] = [];
  if (plan.socket !== undefined) servers.push(await openSocket(plan.socket, gateway, deps.log));
  if (plan.controller !== undefined) servers.push(await openLink(plan.controller, gateway, deps));
  return servers.length > 0 ? servers : [openStandardStreams(gateway, deps.system)];
}

function openStandardStreams(gateway: Gateway, { stdin, stdout }: System): Server {
  const server = serveStdio(gateway, { input: stdin, output: stdout });
  return { ...server, close: () => Promise.resolve() };
}

async function openSocket(path: string, gateway: Gateway, log: Log): Promise<Server> {
  const { serveUnix } = await import('../transport/unix.ts');
  const server = await serveUnix(gateway, { path, log });
  return { ...server, ended: never() };
}

async function openLink(
  plan: ControllerPlan,
  gateway: Gateway,
  { system, log }: { system: System; log: Log },
): Promise<Server> {
  const { connectToController } = await import('../transport/tls/tls.ts');
  const link = connectToController(
    gateway,
    { ...plan, version: VERSION },
    { clock: system.clock, log, random: systemRandom },
  );
  return {
    ended: never(),
    flushed: () => link.flushed(),
    close: () => link.close(),
    health: () => link.health(),
  };
}

function never(): Promise<string> {
  return new Promise(() => {});
}
