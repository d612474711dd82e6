// `burrow host`: the packaged service on this host, for its operator.

import type { Command } from './command.ts';

export const hostCommand: Command = {
  meta: { name: 'host', description: 'Configure, connect and examine the service of this host' },
  examples: [
    {
      command: 'burrow host configure --controller tls://control.example:7443 --gateway-id host-1',
      does: 'say where the service dials in and under which name',
    },
    { command: 'burrow host doctor', does: 'find out what is wrong and what to do about it' },
  ],
  subCommands: {
    configure: () => import('./host-configure.ts').then((module) => module.hostConfigureCommand),
    connect: () => import('./host-connect.ts').then((module) => module.hostConnectCommand),
    status: () => import('./host-status.ts').then((module) => module.hostStatusCommand),
    'pairing-code': () => import('./host-pairing.ts').then((module) => module.hostPairingCodeCommand),
    unpair: () => import('./host-pairing.ts').then((module) => module.hostUnpairCommand),
    doctor: () => import('./host-doctor.ts').then((module) => module.hostDoctorCommand),
    run: () => import('./host-run.ts').then((module) => module.hostRunCommand),
  },
};
