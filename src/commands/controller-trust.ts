// `burrow controller approve`, `reject`, `revoke` and `enroll`: who may come in.

import type { Command, Flag } from './command.ts';
import { CONTROLLER_FLAGS, callController } from './controller-call.ts';

const ID: Flag = { type: 'positional', description: 'The gateway id of the host', valueHint: 'ID' };
const CODE: Flag = {
  type: 'positional',
  required: false,
  description: 'The code that the host shows: only a host with this very code is meant',
  valueHint: 'CODE',
};

export const approveCommand: Command = {
  meta: { name: 'approve', description: 'Let a waiting host in, now and from now on' },
  args: { id: ID, code: CODE, ...CONTROLLER_FLAGS },
  examples: [
    {
      command: 'burrow controller approve web-1 1A2B-3C4D-5E6F',
      does: 'approve the host that shows this code',
    },
    { command: 'burrow controller approve web-1', does: 'approve the only host that asks to be web-1' },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.approve',
      params: pairing(call.positionals),
      show: ({ gatewayId, pairingCode }) => `Approved ${gatewayId} (${pairingCode})\n`,
    }),
};

export const rejectCommand: Command = {
  meta: { name: 'reject', description: 'Turn a waiting host away; it may ask again' },
  args: { id: ID, code: CODE, ...CONTROLLER_FLAGS },
  examples: [
    { command: 'burrow controller reject web-1', does: 'turn away the only host that asks to be web-1' },
    { command: 'burrow controller reject web-1 1A2B-3C4D-5E6F', does: 'turn away the one with this code' },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.reject',
      params: pairing(call.positionals),
      show: ({ gatewayId, pairingCode }) => `Rejected ${gatewayId} (${pairingCode})\n`,
    }),
};

export const revokeCommand: Command = {
  meta: { name: 'revoke', description: 'Forget a paired or enrolled host and hang up on it' },
  args: { id: ID, ...CONTROLLER_FLAGS },
  examples: [
    { command: 'burrow controller revoke web-1', does: 'trust web-1 no more; what runs there runs on' },
    { command: 'burrow controller revoke web-1 --json', does: 'print whether it was connected' },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.revoke',
      params: { gatewayId: call.positionals[0] },
      show: ({ gatewayId }) => `Revoked ${gatewayId}\n`,
    }),
};

export const enrollCommand: Command = {
  meta: {
    name: 'enroll',
    description: 'Make a token with which a host comes in without approval; shown once',
  },
  args: { id: ID, ...CONTROLLER_FLAGS },
  examples: [
    {
      command: 'burrow controller enroll web-2',
      does: 'print the token for BURROW_GATEWAY_ENROLLMENT_TOKEN',
    },
    { command: 'burrow controller enroll web-2 > token', does: 'keep it in a file (mind its mode)' },
  ],
  run: (call) =>
    callController(call, {
      method: 'controller.enroll',
      params: { gatewayId: call.positionals[0] },
      show: ({ token }) => `${token}\n`,
    }),
};

function pairing([gatewayId, pairingCode]: readonly string[]): Record<string, unknown> {
  return pairingCode === undefined ? { gatewayId } : { gatewayId, pairingCode };
}
