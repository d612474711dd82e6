// `burrow controller gateways`, `pairings` and `operations`: what is there, one a line.

import * as v from 'valibot';
import type { Command } from './command.ts';
import { CONTROLLER_FLAGS, callController, columns } from './controller-call.ts';

const PairingsSchema = v.looseObject({
  pairings: v.array(v.looseObject({ gatewayId: v.string(), pairingCode: v.string() })),
});

const GatewaysSchema = v.looseObject({
  gateways: v.array(
    v.looseObject({
      gatewayId: v.string(),
      status: v.string(),
      trust: v.nullish(v.string()),
      version: v.nullish(v.string()),
      address: v.nullish(v.string()),
      connectedAt: v.nullish(v.string()),
    }),
  ),
  next: v.nullish(v.string()),
});

const OperationsSchema = v.looseObject({
  operations: v.array(
    v.looseObject({
      operationId: v.string(),
      target: v.string(),
      kind: v.string(),
      status: v.string(),
      startedAt: v.string(),
      exitCode: v.nullish(v.number()),
      code: v.nullish(v.string()),
    }),
  ),
});

export const gatewaysCommand: Command = {
  meta: {
    name: 'gateways',
    description: 'Print the hosts on record: id, state, trust, version, address, since',
  },
  args: {
    ...CONTROLLER_FLAGS,
    after: { type: 'string', valueHint: 'ID', description: 'Begin behind this id (a page holds 1,000)' },
  },
  examples: [
    { command: 'burrow controller gateways', does: 'see which hosts are connected' },
    {
      command: "burrow controller gateways --json | jq -r '.gateways[].gatewayId'",
      does: 'print the ids alone',
    },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.gateways',
      params: call.flags['after'] === undefined ? {} : { after: call.flags['after'] },
      show(result) {
        const { gateways, next } = v.parse(GatewaysSchema, result);
        if (typeof next === 'string') call.system.stderr.write(`burrow: There are more: --after ${next}\n`);
        return columns(
          gateways.map((host) => [
            ...[host.gatewayId, host.status, host.trust, host.version, host.address, host.connectedAt],
          ]),
        );
      },
    }),
};

export const pairingsCommand: Command = {
  meta: { name: 'pairings', description: 'Print the hosts that wait for approval: gateway id and code' },
  args: CONTROLLER_FLAGS,
  examples: [
    {
      command: 'burrow controller pairings',
      does: 'see the code to compare with the one that the host shows',
    },
    { command: 'burrow controller pairings --json', does: 'print also since when and from where' },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.pairings',
      params: {},
      show: (result) =>
        columns(
          v
            .parse(PairingsSchema, result)
            .pairings.map(({ gatewayId, pairingCode }) => [gatewayId, pairingCode]),
        ),
    }),
};

export const operationsCommand: Command = {
  meta: {
    name: 'operations',
    description: 'Print the last 256 operations: when, where, which and how they ended',
  },
  args: {
    ...CONTROLLER_FLAGS,
    target: { type: 'string', valueHint: 'ID', description: 'Those of this host alone' },
  },
  examples: [
    { command: 'burrow controller operations', does: 'see what ran lately (no commands, no output)' },
    {
      command: 'burrow controller operations --target web-1 --json',
      does: 'print those of one host as JSON',
    },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.operations',
      params: call.flags['target'] === undefined ? {} : { gatewayId: call.flags['target'] },
      show: (result) =>
        columns(
          v
            .parse(OperationsSchema, result)
            .operations.map(({ startedAt, target, operationId, kind, status, exitCode, code }) => [
              ...[startedAt, target, operationId, kind, status, exitCode ?? code],
            ]),
        ),
    }),
};
