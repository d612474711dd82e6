// A gateway behind a controller: the lines of a client go to the operator's socket of the controller, each with the id of
// the host it is meant for, and what that host answers comes back as if it were here. Nothing is sent again by itself.

import type { OpenChannel } from './channel.ts';
import { unixSocket } from './socket.ts';

/** `socketPath` is the operator's socket; `target` the gateway id of the host. */
export function throughController(socketPath: string, target: string): OpenChannel {
  const open = unixSocket(socketPath, 'controller');
  return (events) => {
    const channel = open(events);
    return { ...channel, send: (line) => channel.send(addressed(line, target)) };
  };
}

/** The line with a target as its first member: one that the line names itself comes later and counts. Other lines stay. */
function addressed(line: string, target: string): string {
  const start = /^\s*\{(?!\s*\})/.exec(line);
  if (start === null) return line;
  return `{"target":${JSON.stringify(target)},${line.slice(start[0].length)}`;
}
