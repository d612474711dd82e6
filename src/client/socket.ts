// A gateway behind a unix socket: a running daemon of this host, or the operator's side of a controller.

import { createConnection } from 'node:net';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { createLineSplitter } from '../protocol/json-lines.ts';
import type { OpenChannel } from './channel.ts';

/** `server` is who should listen there, for the words of a failure. */
export function unixSocket(path: string, server: 'daemon' | 'controller' = 'daemon'): OpenChannel {
  return (events) => {
    let failure: string | undefined;
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
    const socket = createConnection({ path, allowHalfOpen: true });
    const lines = createLineSplitter({
      maxLineBytes: MAX_FRAME_BYTES,
      onLine: (line) => events.onFrame(line),
      onOversized: () => {},
    });
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    socket.once('end', () => {
      lines.end();
      socket.end();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure ??= describe(path, server, error);
    });
    socket.once('close', () => {
      events.onClosed(failure ?? `socket "${path}" was closed by the other side`);
      onClosed();
    });
    return {
      send(line) {
        if (socket.writable) socket.write(line);
      },
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
      close() {
        socket.end();
        // Paused, the end of the other side would never be seen.
        socket.resume();
        return closed;
      },
    };
  };
}

function describe(path: string, server: string, error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return `no socket "${path}": is the ${server} running?`;
  if (error.code === 'ECONNREFUSED') return `nobody listens on socket "${path}": is the ${server} running?`;
  if (error.code === 'EACCES') return `socket "${path}" is not for this user: join its group`;
  return `socket "${path}" failed: ${error.code ?? error.message}`;
}
