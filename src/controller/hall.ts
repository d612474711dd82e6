// Every connection of the controller from its challenge to its end: judged, let in, left waiting for an operator or turned
// away. One id has one connection; a second one is refused, and the first has to show that it still lives.

import type { TLSSocket } from 'node:tls';
import type { AuthResponse, IdentityKeys } from '../protocol/auth.ts';
import { BurrowError, isBurrowError } from '../protocol/errors.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import { type Applicant, createNonce, judge } from './admission.ts';
import type { GatewayRecord, GatewayRecords } from './gateway-records.ts';
import { type EndReason, Link } from './link.ts';
import { tooManyPeers } from './listener.ts';
import { createPairingDesk, type PairingDesk } from './pairing-desk.ts';
import { createRoster, type Roster } from './roster.ts';

/** Connections that have not answered their challenge; more are turned away. */
const MAX_UNPROVEN = 1_024;

export interface HallDeps {
  clock: Clock;
  log: Log;
  keys: IdentityKeys;
  records: GatewayRecords;
  limitMs: number;
}

/** Where every connection is, from its challenge to its end. */
export interface Hall {
  roster: Roster;
  desk: PairingDesk;
  enter(socket: TLSSocket): void;
  admit(gatewayId: string, trust: GatewayRecord['kind'], link: Link): void;
  close(): void;
}

export function createHall({ clock, log, keys, records, limitMs }: HallDeps): Hall {
  const roster = createRoster({ clock, log });
  const desk = createPairingDesk();
  const links = new Set<Link>();
  const unproven = new Set<Link>();

  const admit: Hall['admit'] = (gatewayId, trust, link) => {
    const present = roster.find(gatewayId);
    if (present !== undefined) {
      link.refuse(new BurrowError('gateway_already_connected'));
      return roster.suspect(present);
    }
    link.admit(loadCrypto().randomUUID());
    if (!link.isReady()) return;
    roster.add(gatewayId, trust, link);
    log.info(`Gateway ${JSON.stringify(gatewayId)} connected from ${link.address} (${trust})`);
  };
  const pend = (applicant: Applicant, link: Link): void => {
    desk.add({ ...applicant, link, since: new Date(clock.wallMs()).toISOString() });
    link.pend(applicant.pairingCode);
    log.info(
      `Gateway ${JSON.stringify(applicant.gatewayId)} at ${link.address} waits for approval, code ${applicant.pairingCode}`,
    );
  };
  const decide = (link: Link, response: AuthResponse, nonce: string): void => {
    unproven.delete(link);
    const judgement = judge(response, { nonce, keys, find: records.find });
    try {
      if (judgement.status === 'known') admit(judgement.gatewayId, judgement.trust, link);
      else if (judgement.status === 'unknown') pend(judgement.applicant, link);
      else link.refuse(judgement.error);
    } catch (error) {
      if (!isBurrowError(error)) throw error;
      link.refuse(error);
    }
  };
  const leave = (link: Link, reason: EndReason): void => {
    links.delete(link);
    unproven.delete(link);
    desk.remove(link);
    const member = roster.remove(link);
    const why = `${reason.message} (${reason.code})`;
    if (member === undefined) log.warn(`Peer ${link.address} left without a proof: ${why}`);
    else log.info(`Gateway ${JSON.stringify(member.gatewayId)} disconnected: ${why}`);
  };

  return {
    roster,
    desk,
    admit,
    enter(socket) {
      const nonce = createNonce();
      const link = new Link(
        socket,
        { nonce, controllerPublicKey: keys.publicKey, authLimitMs: limitMs, clock },
        { onResponse: (own, response) => decide(own, response, nonce), onEnd: leave },
      );
      links.add(link);
      if (unproven.size >= MAX_UNPROVEN) return link.refuse(tooManyPeers());
      unproven.add(link);
    },
    close() {
      roster.close();
      for (const link of links) link.close({ code: 'closed', message: 'closed by this controller' });
    },
  };
}
