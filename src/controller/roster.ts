// The gateways that are connected and authenticated: one connection for each id. Notices those that went silent without
// hanging up: whoever says nothing for 20 s is asked, whoever does not answer for another 20 s is gone.

import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { GatewayRecord } from './gateway-records.ts';
import type { Link } from './link.ts';

const LOOK_EVERY_MS = 5_000;
const ASK_AFTER_MS = 20_000;
const GONE_AFTER_MS = 40_000;
/** A second connection of the same gateway makes the first suspect: it has this long to show that it lives. */
const SUSPECT_LIMIT_MS = 5_000;

export interface Member {
  gatewayId: string;
  trust: GatewayRecord['kind'];
  link: Link;
  connectedAt: string;
}

export interface Roster {
  find(gatewayId: string): Member | undefined;
  add(gatewayId: string, trust: Member['trust'], link: Link): void;
  /** The one whose connection it was, if any. */
  remove(link: Link): Member | undefined;
  all(): readonly Member[];
  size(): number;
  /** Asks a member at once whether it lives. */
  suspect(member: Member): void;
  close(): void;
}

interface Pulse extends Member {
  bytesRead: number;
  heardAtMs: number;
  isAsked: boolean;
}

export function createRoster({ clock, log }: { clock: Clock; log: Log }): Roster {
  const members = new Map<string, Pulse>();
  const ids = new Map<Link, string>();

  const look = (): void => {
    timer = clock.startTimer(LOOK_EVERY_MS, look, { background: true });
    const nowMs = clock.monotonicMs();
    for (const member of members.values()) check(member, nowMs, log);
  };
  let timer = clock.startTimer(LOOK_EVERY_MS, look, { background: true });

  return {
    find: (gatewayId) => members.get(gatewayId),
    add(gatewayId, trust, link) {
      const connectedAt = new Date(clock.wallMs()).toISOString();
      const heardAtMs = clock.monotonicMs();
      ids.set(link, gatewayId);
      members.set(gatewayId, {
        gatewayId,
        trust,
        link,
        connectedAt,
        bytesRead: 0,
        heardAtMs,
        isAsked: false,
      });
    },
    remove(link) {
      const member = members.get(ids.get(link) ?? '');
      ids.delete(link);
      if (member?.link !== link) return undefined;
      members.delete(member.gatewayId);
      return member;
    },
    all: () => [...members.values()],
    size: () => members.size,
    suspect(member) {
      const pulse = members.get(member.gatewayId);
      if (pulse === undefined || pulse.isAsked) return;
      pulse.heardAtMs = Math.min(pulse.heardAtMs, clock.monotonicMs() - GONE_AFTER_MS + SUSPECT_LIMIT_MS);
      ask(pulse);
    },
    close: () => timer.cancel(),
  };
}

function check(member: Pulse, nowMs: number, log: Log): void {
  const { link } = member;
  const bytesRead = link.bytesRead();
  // Nothing is read from one that is held, so nothing can be concluded.
  if (bytesRead !== member.bytesRead || link.isHeld()) {
    Object.assign(member, { bytesRead, heardAtMs: nowMs, isAsked: false });
    return;
  }
  const silentMs = nowMs - member.heardAtMs;
  if (silentMs >= GONE_AFTER_MS) {
    log.debug(`Gateway ${JSON.stringify(member.gatewayId)} has been silent for ${Math.round(silentMs)} ms`);
    link.end({ code: 'ETIMEDOUT', message: 'the gateway does not answer any more' });
  } else if (silentMs >= ASK_AFTER_MS && !member.isAsked) ask(member);
}

function ask(member: Pulse): void {
  member.isAsked = true;
  member.bytesRead = member.link.bytesRead();
  const id = member.link.calls.begin({
    idJson: 'null',
    operationId: undefined,
    send: () => {},
    onEnd: () => {},
  });
  member.link.send(`{"id":"${id}","method":"hello","params":{}}\n`);
}
