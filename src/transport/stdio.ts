// The gateway over standard input and output: lines in, frames out. At the end of input it finishes what runs and
// answers it; a reader that went away ends it. It never answers on anything but `output`.

import type { Readable, Writable } from 'node:stream';
import type { Gateway } from '../gateway/gateway.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { createFrameWriter } from './frame-writer.ts';
import { createRequestIntake } from './request-intake.ts';

export interface StdioStreams {
  input: Readable;
  output: Writable;
}

export interface StdioServer {
  /** `input_ended`: all work of this peer is answered. `output_closed`: nobody reads any more. */
  ended: Promise<'input_ended' | 'output_closed'>;
  /** Resolves when every frame sent so far left. */
  flushed(): Promise<void>;
}

export function serveStdio(gateway: Gateway, { input, output }: StdioStreams): StdioServer {
  const writer = createFrameWriter(output, {
    onSaturated: (saturated) => session.setSaturated(saturated),
    onOverfull: (overfull) => intake.hold(overfull),
  });
  const session = gateway.connect({
    transport: 'stdio-jsonl',
    maxFrameBytes: MAX_FRAME_BYTES,
    send: writer.send,
  });
  const { promise: ended, resolve } = Promise.withResolvers<'input_ended' | 'output_closed'>();
  const intake = createRequestIntake(input, session, () => {
    void session.idle().then(() => resolve('input_ended'));
  });
  output.on('error', () => resolve('output_closed'));
  output.once('close', () => resolve('output_closed'));
  return { ended, flushed: writer.flushed };
}
