// Hosts that wait for an operator: each entry is one live connection with the code of its own challenge. A connection that
// ends takes its entry along, so an approval never counts for a challenge that is over. Holds no more than 64, and no more
// than 4 that claim the same id.

import { BurrowError } from '../protocol/errors.ts';
import type { Applicant } from './admission.ts';
import type { Link } from './link.ts';

const MAX_PENDING = 64;
const MAX_PENDING_PER_ID = 4;

export interface Pairing extends Applicant {
  link: Link;
  since: string;
}

export interface PairingDesk {
  /** Throws `unknown_node` when too many wait already. A second connection of the same node takes the place of its first. */
  add(pairing: Pairing): void;
  remove(link: Link): void;
  isWaiting(gatewayId: string): boolean;
  all(): readonly Pairing[];
  /**
   * The one that `gatewayId` and, when given, the code mean. Throws `pairing_not_waiting` when none waits and `invalid_params` when
   * several do and no code tells them apart.
   */
  find(gatewayId: string, pairingCode: string | undefined): Pairing;
}

export function createPairingDesk(): PairingDesk {
  const waiting = new Map<Link, Pairing>();
  const of = (gatewayId: string): Pairing[] =>
    [...waiting.values()].filter((pairing) => pairing.gatewayId === gatewayId);
  return {
    add(pairing) {
      const rivals = of(pairing.gatewayId);
      const earlier = rivals.find(({ nodePublicKey }) => nodePublicKey === pairing.nodePublicKey);
      if (earlier !== undefined) {
        waiting.delete(earlier.link);
        earlier.link.refuse(
          new BurrowError('gateway_already_connected', { message: 'The node connected again' }),
        );
      } else if (waiting.size >= MAX_PENDING || rivals.length >= MAX_PENDING_PER_ID) {
        throw new BurrowError('unknown_node', {
          message: 'Node is not known, and too many pairings wait already',
          retryable: true,
        });
      }
      waiting.set(pairing.link, pairing);
    },
    remove: (link) => void waiting.delete(link),
    isWaiting: (gatewayId) => of(gatewayId).length > 0,
    all: () => [...waiting.values()],
    find(gatewayId, pairingCode) {
      const found = of(gatewayId).filter(
        (pairing) => pairingCode === undefined || pairing.pairingCode === pairingCode.toUpperCase(),
      );
      const [only, ...others] = found;
      if (only === undefined) {
        const which = pairingCode === undefined ? '' : ` with code "${pairingCode}"`;
        throw new BurrowError('pairing_not_waiting', {
          message: `No pairing of "${gatewayId}"${which} is waiting`,
        });
      }
      if (others.length === 0) return only;
      throw new BurrowError('invalid_params', {
        message: `${found.length} hosts ask to be "${gatewayId}": name the code of the right one`,
        issues: [{ path: 'params.pairingCode', message: 'Expected the code that the host shows' }],
      });
    },
  };
}
