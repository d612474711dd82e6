// `burrow controller`: the other end of outbound gateways, for those who have no controller yet: serve it, let hosts in, look.

import type { Command } from './command.ts';

export const controllerCommand: Command = {
  meta: { name: 'controller', description: 'Accept outbound gateways, approve them, send them work' },
  examples: [
    {
      command:
        'burrow controller serve --listen 0.0.0.0:7443 --state-dir ~/.burrow --socket ~/.burrow/operator.sock',
      does: 'wait for gateways on port 7443',
    },
    {
      command: 'burrow controller approve web-1 --socket ~/.burrow/operator.sock',
      does: 'let the host web-1 in',
    },
  ],
  subCommands: {
    serve: () => import('./controller-serve.ts').then((module) => module.controllerServeCommand),
    gateways: () => import('./controller-lists.ts').then((module) => module.gatewaysCommand),
    pairings: () => import('./controller-lists.ts').then((module) => module.pairingsCommand),
    approve: () => import('./controller-trust.ts').then((module) => module.approveCommand),
    reject: () => import('./controller-trust.ts').then((module) => module.rejectCommand),
    revoke: () => import('./controller-trust.ts').then((module) => module.revokeCommand),
    enroll: () => import('./controller-trust.ts').then((module) => module.enrollCommand),
    operations: () => import('./controller-lists.ts').then((module) => module.operationsCommand),
  },
};
