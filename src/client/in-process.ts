// A gateway in this very process: no stream, no encoding on the way, the same protocol.

import type { Gateway } from '../gateway/gateway.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { frameText } from '../protocol/envelopes.ts';
import type { OpenChannel } from './channel.ts';

export function inProcess(gateway: Gateway): OpenChannel {
  return (events) => {
    let closed = false;
    const session = gateway.connect({
      transport: 'stdio-jsonl',
      maxFrameBytes: MAX_FRAME_BYTES,
      send(frame) {
        const line = Buffer.from(frameText(frame).slice(0, -1));
        // A frame must not come back into the call that caused it.
        queueMicrotask(() => events.onFrame(line));
      },
    });
    return {
      send(line) {
        if (!closed) session.receive(Buffer.from(line.slice(0, -1)));
      },
      pause: () => session.setSaturated(true),
      resume: () => session.setSaturated(false),
      async close() {
        if (closed) return;
        closed = true;
        await session.idle();
        events.onClosed('closed by the client');
      },
    };
  };
}
