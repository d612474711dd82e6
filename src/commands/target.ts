// Where a command goes: a private gateway in this process, a running daemon behind its socket, or hosts behind a controller.
// With several hosts the command runs on all of them at once, every line of output names its host, and the worst exit
// status counts.

import type { OpenChannel } from '../client/channel.ts';
import { throughController } from '../client/controller.ts';
import { inProcess } from '../client/in-process.ts';
import { unixSocket } from '../client/socket.ts';
import type { Clock } from '../support/clock.ts';
import { silentLog } from '../support/log.ts';
import { type Call, type Flag, UsageError } from './command.ts';
import { createLocalGateway } from './local-gateway.ts';
import { prefixed } from './prefixed.ts';
import { EXIT, type System } from './system.ts';

export const TARGET_FLAGS: Readonly<Record<string, Flag>> = {
  socket: { type: 'string', valueHint: 'PATH', description: 'Go to the daemon that listens on PATH' },
  controller: {
    type: 'string',
    valueHint: 'SOCKET',
    description: 'Go through the controller whose operator socket this is',
  },
  target: {
    type: 'string',
    valueHint: 'ID',
    description: 'The host behind the controller; may be given again for several',
    multiple: true,
  },
};

export interface Target {
  /** `private`: a gateway of this process. `socket`: a daemon of this host. `controller`: another host, most likely. */
  kind: 'private' | 'socket' | 'controller';
  open: OpenChannel;
  /** Of a private gateway: cancels what runs and resolves when it is answered. Nothing for the others, which live on. */
  stop(): Promise<void>;
  /**
   * Of a private gateway: kills what runs and resolves when it is gone, within ABANDON_LIMIT_MS; what cannot be killed (a file
   * system that hangs) is left. The others end by themselves what they were told to cancel.
   */
  abandon(): Promise<void>;
  /** Of a private gateway: brings out the spans of what ran. */
  flush(): Promise<void>;
}

/** More than KILL_SETTLE_MS, after which the gateway itself gives up on a process. */
const ABANDON_LIMIT_MS = 500;

const LIVES_ON = {
  stop: () => Promise.resolve(),
  abandon: () => Promise.resolve(),
  flush: () => Promise.resolve(),
};

/** Runs `run` on every host that the flags of `call` name, and answers the worst (highest) exit status. */
export async function runOnTargets(
  call: Call,
  run: (call: Call, target: Target) => Promise<number>,
): Promise<number> {
  const { socket, controller } = call.flags;
  const hosts = targetHosts(call.flags);
  if (typeof controller !== 'string') return run(call, await openOne(call.system, socket));
  const [first, ...others] = hosts;
  const through = (host: string): Target => ({
    kind: 'controller',
    open: throughController(controller, host),
    ...LIVES_ON,
  });
  if (first === undefined) throw new UsageError('Flag "--target" is missing', 'It names a host: --target ID');
  if (others.length === 0) return run(call, through(first));
  const statuses = hosts.map(async (host) => {
    const system = prefixed(call.system, `${host}: `);
    const status = await run({ ...call, system }, through(host));
    await system.finish();
    return status;
  });
  return Math.max(EXIT.done, ...(await Promise.all(statuses)));
}

/** The hosts that are named, each once; checks that the flags go together. */
export function targetHosts({ socket, controller, target }: Call['flags']): readonly string[] {
  if (socket !== undefined && controller !== undefined)
    throw new UsageError('Both --socket and --controller are given');
  if (target !== undefined && controller === undefined)
    throw new UsageError(
      'Flag "--target" needs --controller',
      'A host is reached through --controller SOCKET',
    );
  return [...new Set(Array.isArray(target) ? target : [])];
}

async function openOne(system: System, socket: unknown): Promise<Target> {
  if (typeof socket === 'string') return { kind: 'socket', open: unixSocket(socket), ...LIVES_ON };
  const { gateway, telemetry } = await createLocalGateway(system, {
    journal: { kind: 'memory' },
    log: silentLog,
  });
  return {
    kind: 'private',
    open: inProcess(gateway),
    stop: () => gateway.stop(),
    abandon: () => Promise.race([gateway.kill(), passed(ABANDON_LIMIT_MS, system.clock)]),
    flush: () => telemetry.close(),
  };
}

function passed(delayMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.startTimer(delayMs, resolve, { background: true }));
}
