// Runs one operation for a person: output goes to the caller's streams as it comes, a slow reader holds the command
// back, Ctrl-C cancels and waits for the evidence, a second one gives up.

import type { CallAnswer, GatewayClient } from '../client/client.ts';
import { loadCrypto } from '../support/builtins.ts';
import { exitStatusOfSignal } from './evidence-text.ts';
import type { OutputStream, System } from './system.ts';
import type { Target } from './target.ts';

/** More than a cancelled command takes to end, so that what still waits then is output. */
const UNREAD_NOTICE_MS = 2_000;

export interface Run {
  client: GatewayClient;
  method: 'process.exec' | 'filesystem.execute';
  params: Record<string, unknown>;
  /** Where the output goes; undefined: nowhere. */
  streams: { stdout: OutputStream; stderr: OutputStream } | undefined;
  system: System;
  target: Pick<Target, 'abandon'>;
}

export type Ended =
  | {
      status: 'answered';
      answer: CallAnswer;
      interruptedBy: Interrupt | undefined;
      /** The stream said that it brought less than there was. */
      isOutputCut: boolean;
    }
  /** Interrupted twice. It was said; nothing more is waited for, the end of the client neither. */
  | { status: 'abandoned'; exitStatus: number };

type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export async function runOperation(run: Run): Promise<Ended> {
  const { client, method, params, streams, system, target } = run;
  // An id of our own, so that a cancel can name the operation before it was accepted.
  const operationId =
    typeof params['operationId'] === 'string' ? params['operationId'] : loadCrypto().randomUUID();
  const cancel = (): void => void client.call('cancel', { operationId });
  const interruption = watchSignals(system, { cancel, abandon: target.abandon });
  if (streams !== undefined) {
    for (const stream of Object.values(streams)) stream.once('close', cancel);
  }
  let isOutputCut = false;

  const running = client.execute(
    method,
    { ...params, operationId },
    {
      onStream({ stream, data, truncated }) {
        isOutputCut ||= truncated;
        const reader = streams?.[stream];
        if (reader === undefined || data === '' || !reader.writable || reader.write(data)) return;
        client.pause();
        reader.once('drain', () => client.resume());
      },
    },
  );
  const answer = await Promise.race([running, interruption.abandoned]);
  if (streams !== undefined) {
    for (const stream of Object.values(streams)) stream.removeListener('close', cancel);
  }
  const interruptedBy = interruption.settle();
  if (answer !== undefined) return { status: 'answered', answer, interruptedBy, isOutputCut };
  system.stderr.write(`burrow: Given up before operation "${operationId}" had ended\n`);
  return { status: 'abandoned', exitStatus: exitStatusOfSignal(interruptedBy ?? 'SIGINT') };
}

/** Whoever pressed Ctrl-C once and sees nothing happen is told what is waited for: the end comes after the output. */
function tellUnread({ stdout, stderr }: System): void {
  // On a pipe to both that nobody reads, the line would only be one more that waits.
  if (stdout.writableLength === 0 || stderr.writableLength > 0) return;
  stderr.write('burrow: Output waits for its reader: Ctrl-C again gives up what is not read\n');
}

interface SignalWatch {
  abandoned: Promise<undefined>;
  /** The operation is over: answers the first signal that came. */
  settle(): Interrupt | undefined;
}

/** The first signal cancels; one more waits for nothing, neither for an answer nor for a reader who does not read. */
function watchSignals(
  system: System,
  { cancel, abandon }: { cancel: () => void; abandon: () => Promise<void> },
): SignalWatch {
  let first: Interrupt | undefined;
  const { promise: abandoned, resolve } = Promise.withResolvers<undefined>();
  const take = (signal: Interrupt) => (): void => {
    if (first === undefined) {
      first = signal;
      system.clock.startTimer(UNREAD_NOTICE_MS, () => tellUnread(system), { background: true });
      return cancel();
    }
    system.abandonStdout();
    void abandon().then(() => resolve(undefined));
  };
  const releases = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    system.onSignal(signal, take(signal)),
  );
  return {
    abandoned,
    settle() {
      // Interrupted, the end of the process is near: one signal more must not turn its exit status into a kill.
      if (first === undefined) for (const release of releases) release();
      return first;
    },
  };
}
