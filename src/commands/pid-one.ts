// As process 1 of a container, burrow would inherit every orphan of its commands, and Node.js waits only for processes that
// it started itself: the dead ones would stay until the limit of processes is reached. So burrow hands process 1 to a
// shell, which waits for whatever ends, and goes on as its child, with the same input, output, signals and exit status.

import { existsSync } from 'node:fs';

const SHELL = '/bin/sh';
/** The input goes through descriptor 3, because a shell gives its background jobs /dev/null. A trapped signal ends `wait` early. */
const SCRIPT = `
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&- </dev/null
trap 'kill -TERM "$child"' TERM
trap 'kill -INT "$child"' INT
while :; do
  wait "$child"
  status=$?
  [ -d "/proc/$child" ] || exit "$status"
done
`;

/** Does not return when this is process 1 of a host that has a shell. Without one, orphans stay as zombies. */
export function leavePidOne(ownCommand: readonly string[]): void {
  if (process.pid !== 1 || process.execve === undefined || !existsSync(SHELL)) return;
  process.execve(SHELL, ['sh', '-c', SCRIPT, 'burrow', ...ownCommand], process.env);
}
