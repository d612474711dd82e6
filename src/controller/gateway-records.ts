// Whom the controller believes: for each gateway id the key of a paired node, or the secret of an enrollment. Promises that
// what was approved survives a restart and that nothing counts before it is on the disk. Holds no more than 10,000.

import * as v from 'valibot';
import { GatewayIdSchema } from '../protocol/auth.ts';
import { BurrowError } from '../protocol/errors.ts';
import type { StateFiles } from '../transport/tls/state-files.ts';

const RECORDS_FILE = 'controller-gateways.json';
const MAX_RECORDS = 10_000;

const TextSchema = v.pipe(v.string(), v.minLength(1));

const RecordSchema = v.variant('kind', [
  v.looseObject({
    kind: v.literal('node'),
    gatewayId: GatewayIdSchema,
    /** SPKI PEM. */
    publicKey: TextSchema,
    approvedAt: TextSchema,
  }),
  v.looseObject({
    kind: v.literal('enrollment'),
    gatewayId: GatewayIdSchema,
    secret: TextSchema,
    enrolledAt: TextSchema,
  }),
]);

const RecordsSchema = v.looseObject({ version: v.literal(1), gateways: v.array(RecordSchema) });

export type GatewayRecord = v.InferOutput<typeof RecordSchema>;

export interface GatewayRecords {
  find(gatewayId: string): GatewayRecord | undefined;
  all(): readonly GatewayRecord[];
  /**
   * Resolves when it is on the disk. Throws `gateway_identity_conflict` when the id is on record already,
   * `too_many_operations` at the bound, and the system error of a disk that refuses.
   */
  add(record: GatewayRecord): Promise<void>;
  /** Whether there was one. */
  remove(gatewayId: string): Promise<boolean>;
}

/** Throws ConfigurationError when the file is damaged. */
export function openGatewayRecords(files: StateFiles): GatewayRecords {
  let records = new Map<string, GatewayRecord>();
  for (const record of files.read(RECORDS_FILE, RecordsSchema)?.gateways ?? []) {
    records.set(record.gatewayId, record);
  }
  let last: Promise<unknown> = Promise.resolve();

  // One after another, each from what the one before left.
  const change = (edit: (next: Map<string, GatewayRecord>) => void): Promise<void> => {
    const done = last.then(async () => {
      const next = new Map(records);
      edit(next);
      await files.write(RECORDS_FILE, { version: 1, gateways: [...next.values()] });
      records = next;
    });
    last = done.catch(() => {}); // Told to the one who asked.
    return done;
  };

  return {
    find: (gatewayId) => records.get(gatewayId),
    all: () => [...records.values()],
    add: (record) =>
      change((next) => {
        if (next.has(record.gatewayId)) throw taken(next.get(record.gatewayId));
        if (next.size >= MAX_RECORDS) throw full();
        next.set(record.gatewayId, record);
      }),
    async remove(gatewayId) {
      let found = false;
      await change((next) => {
        found = next.delete(gatewayId);
      });
      return found;
    },
  };
}

function taken(record: GatewayRecord | undefined): BurrowError {
  const how = record?.kind === 'node' ? 'paired' : 'enrolled';
  return new BurrowError('gateway_identity_conflict', {
    message: `Gateway "${record?.gatewayId}" is ${how} already: revoke it first`,
  });
}

function full(): BurrowError {
  return new BurrowError('too_many_operations', {
    message: `The controller knows ${MAX_RECORDS} gateways already: revoke some`,
    retryable: false,
  });
}
