// Runs one operation for a person: output goes to the caller's streams as it comes, a slow reader holds the command
// back, Ctrl-C cancels and waits for the evidence, a second one gives up.

import type { CallAnswer, GatewayClient } from '../client/client.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { OutputStream, System } from './system.ts';

export interface Run {
  client: GatewayClient;
  method: 'process.exec' | 'filesystem.execute';
  params: Record<string, unknown>;
  /** Where the output goes; undefined: nowhere. */
  streams: { stdout: OutputStream; stderr: OutputStream } | undefined;
  system: System;
  /**
   * Nobody gives up: the gateway is this very process, which ends what runs within a second or so; leaving earlier would
   * leave a stubborn command behind. Default false.
   */
  waitsForEnd?: boolean;
}

export interface Ended {
  answer: CallAnswer;
  interruptedBy: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
}

export async function runOperation(run: Run): Promise<Ended> {
  const { client, method, params, streams, system, waitsForEnd = false } = run;
  // An id of our own, so that a cancel can name the operation before it was accepted.
  const operationId =
    typeof params['operationId'] === 'string' ? params['operationId'] : loadCrypto().randomUUID();
  let interruptedBy: Ended['interruptedBy'];
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<CallAnswer>();
  const cancel = (): void => void client.call('cancel', { operationId });
  const interrupt = (signal: NonNullable<Ended['interruptedBy']>) => (): void => {
    if (interruptedBy !== undefined && waitsForEnd) return;
    if (interruptedBy !== undefined)
      return giveUp({ status: 'unreachable', reason: 'given up before the evidence came' });
    interruptedBy = signal;
    cancel();
  };
  const releases = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    system.onSignal(signal, interrupt(signal)),
  );
  if (streams !== undefined) {
    for (const stream of Object.values(streams)) stream.once('close', cancel);
  }

  const running = client.execute(
    method,
    { ...params, operationId },
    {
      onStream({ stream, data }) {
        const target = streams?.[stream];
        if (target === undefined || data === '' || !target.writable || target.write(data)) return;
        client.pause();
        target.once('drain', () => client.resume());
      },
    },
  );
  const answer = await Promise.race([running, givenUp]);
  // Interrupted, the end of the process is near: one signal more must not turn its exit status into a kill.
  if (interruptedBy === undefined) for (const release of releases) release();
  if (streams !== undefined) {
    for (const stream of Object.values(streams)) stream.removeListener('close', cancel);
  }
  return { answer, interruptedBy };
}
