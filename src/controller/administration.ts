// What an operator can do at the controller itself: see who is connected and who waits, approve, reject, revoke, enroll, and
// look at the last operations. Answers are results for the wire; a refusal is thrown with its code. A secret is shown once.

import * as v from 'valibot';
import { GatewayIdSchema } from '../protocol/auth.ts';
import { BurrowError } from '../protocol/errors.ts';
import { paramsError } from '../protocol/issues.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { ActivityList } from './activity.ts';
import type { GatewayRecords } from './gateway-records.ts';
import type { Pairing, PairingDesk } from './pairing-desk.ts';
import type { Roster } from './roster.ts';

/** Gateways in one answer, so that it fits a frame; `next` leads on. */
const PAGE_GATEWAYS = 1_000;
const SECRET_BYTES = 32;

export interface AdministrationDeps {
  records: GatewayRecords;
  desk: PairingDesk;
  roster: Roster;
  activity: ActivityList;
  clock: Clock;
  log: Log;
  /** Lets the host of an approved pairing in. */
  admit(pairing: Pairing): void;
}

export type Administration = (method: string, params: Record<string, unknown>) => Promise<object>;

const GatewaySchema = v.object({ gatewayId: GatewayIdSchema, pairingCode: v.nullish(v.string()) });
const PageSchema = v.object({ after: v.nullish(v.string()) });
const OperationsSchema = v.object({ gatewayId: v.nullish(GatewayIdSchema) });

/** Answers the methods `controller.*`. Rejects with `unknown_method` for another. */
export function createAdministration(deps: AdministrationDeps): Administration {
  return async (method, params) => {
    switch (method) {
      case 'controller.gateways':
        return listGateways(read(PageSchema, params).after ?? '', deps);
      case 'controller.pairings':
        return { pairings: deps.desk.all().map(showPairing) };
      case 'controller.operations':
        return { operations: deps.activity.all(read(OperationsSchema, params).gatewayId ?? undefined) };
      case 'controller.approve':
        return approve(findPairing(params, deps), deps);
      case 'controller.reject':
        return reject(findPairing(params, deps), deps);
      case 'controller.revoke':
        return revoke(read(GatewaySchema, params).gatewayId, deps);
      case 'controller.enroll':
        return enroll(read(GatewaySchema, params).gatewayId, deps);
      default:
        throw new BurrowError('unknown_method');
    }
  };
}

function read<Schema extends v.GenericSchema>(
  schema: Schema,
  params: Record<string, unknown>,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, params);
  if (parsed.success) return parsed.output;
  throw paramsError(parsed.issues);
}

/** In the order of their ids: those on record, connected or not, each with what is known of it. */
function listGateways(after: string, { records, roster, activity }: AdministrationDeps): object {
  const ids = records
    .all()
    .map(({ gatewayId }) => gatewayId)
    .filter((gatewayId) => gatewayId > after)
    .sort();
  const running = new Map<string, number>();
  for (const { target, status } of activity.all()) {
    if (status === 'running') running.set(target, (running.get(target) ?? 0) + 1);
  }
  const gateways = ids.slice(0, PAGE_GATEWAYS).map((gatewayId) => {
    const member = roster.find(gatewayId);
    return {
      gatewayId,
      status: member === undefined ? 'offline' : 'connected',
      trust: records.find(gatewayId)?.kind ?? null,
      address: member?.link.address ?? null,
      connectedAt: member?.connectedAt ?? null,
      version: member?.link.gatewayVersion ?? null,
      activeOperations: running.get(gatewayId) ?? 0,
    };
  });
  return { gateways, next: ids.length > PAGE_GATEWAYS ? (gateways.at(-1)?.gatewayId ?? null) : null };
}

function showPairing({ gatewayId, pairingCode, since, link }: Pairing): object {
  return { gatewayId, pairingCode, since, address: link.address };
}

function findPairing(params: Record<string, unknown>, { desk }: AdministrationDeps): Pairing {
  const { gatewayId, pairingCode } = read(GatewaySchema, params);
  return desk.find(gatewayId, pairingCode ?? undefined);
}

async function approve(pairing: Pairing, deps: AdministrationDeps): Promise<object> {
  const { gatewayId, nodePublicKey, pairingCode, link } = pairing;
  const approvedAt = now(deps.clock);
  await deps.records.add({ kind: 'node', gatewayId, publicKey: nodePublicKey, approvedAt });
  deps.log.info(`Pairing of gateway ${JSON.stringify(gatewayId)} approved (code ${pairingCode})`);
  deps.desk.remove(link);
  deps.admit(pairing);
  // Others who asked for the id are now a conflict.
  for (const other of deps.desk.all()) {
    if (other.gatewayId === gatewayId) other.link.refuse(new BurrowError('gateway_identity_conflict'));
  }
  return { gatewayId, approved: true, pairingCode, connected: link.isReady() };
}

function reject({ gatewayId, pairingCode, link }: Pairing, { desk, log }: AdministrationDeps): object {
  desk.remove(link);
  link.refuse(new BurrowError('pairing_rejected'));
  log.info(`Pairing of gateway ${JSON.stringify(gatewayId)} rejected (code ${pairingCode})`);
  return { gatewayId, rejected: true, pairingCode };
}

async function revoke(gatewayId: string, { records, roster, log }: AdministrationDeps): Promise<object> {
  const kind = records.find(gatewayId)?.kind;
  const wasKnown = await records.remove(gatewayId);
  if (!wasKnown) throw new BurrowError('unknown_gateway');
  const member = roster.find(gatewayId);
  const code = kind === 'enrollment' ? 'unknown_gateway' : 'unknown_node';
  member?.link.refuse(new BurrowError(code, { message: 'Trust in this gateway was revoked' }));
  log.info(`Trust in gateway ${JSON.stringify(gatewayId)} revoked`);
  return { gatewayId, revoked: true, disconnected: member !== undefined };
}

async function enroll(gatewayId: string, { records, clock, log }: AdministrationDeps): Promise<object> {
  const secret = loadCrypto().randomBytes(SECRET_BYTES).toString('base64url');
  await records.add({ kind: 'enrollment', gatewayId, secret, enrolledAt: now(clock) });
  log.info(`Gateway ${JSON.stringify(gatewayId)} enrolled`);
  return { gatewayId, token: secret };
}

function now(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString();
}
