// The entry: builds the real system, hands it to the command that the arguments name, and sets the exit status.
// Nothing else in burrow ends the process.

import { runCli } from './commands/cli.ts';
import { leavePidOne } from './commands/pid-one.ts';
import { explainChangedArgument, findChangedArgument } from './commands/raw-arguments.ts';
import { currentDirectory, EXIT, type System } from './commands/system.ts';
import { systemClock } from './support/clock.ts';

/** Once output is given up, for what is still to be said on stderr. */
const STDERR_LIMIT_MS = 100;

/** What the last step has to know. The stream itself forgets its error: it cannot be destroyed. */
interface End {
  awaitsStdout: boolean;
  /** Once the command is over: leaves although output still waits. */
  leave?: () => void;
  stdoutError: NodeJS.ErrnoException | undefined;
}

function main(): void {
  // In the binary as under Node.js, arguments start at 2.
  const args = process.argv.slice(2);
  const changed = findChangedArgument(args);
  if (changed !== undefined) {
    process.stderr.write(explainChangedArgument(changed));
    process.exitCode = EXIT.usage;
    return;
  }
  leavePidOne([process.execPath, ...args]);
  const end: End = { awaitsStdout: true, stdoutError: undefined };
  let directory: string | undefined;
  const system: System = {
    env: process.env,
    // Asked for on first use: each costs start-up time and touches its descriptor.
    get cwd() {
      directory ??= currentDirectory();
      return directory;
    },
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return quietOnError(process.stdout, (error) => {
        end.stdoutError ??= error;
      });
    },
    get stderr() {
      return quietOnError(process.stderr);
    },
    abandonStdout() {
      end.awaitsStdout = false;
      end.leave?.();
    },
    clock: systemClock,
    onSignal(signal, handler) {
      process.on(signal, handler);
      return () => process.removeListener(signal, handler);
    },
  };
  // The last resort, so that even a fault of ours is one line to a person; BURROW_DEBUG shows where it happened.
  process.on('uncaughtException', (error) => {
    const detail = process.env['BURROW_DEBUG'] === undefined ? error.message : error.stack;
    system.stderr.write(`burrow: ${detail} (internal_error)\n`);
    process.exit(1);
  });
  runCli(args, system).then(
    (status) => exitWhenWritten(status, end),
    () => exitWhenWritten(1, end),
  );
}

/** A reader that goes away (`| head`) is no crash; commands that care watch for the stream's close. */
function quietOnError(
  stream: NodeJS.WriteStream,
  onError: (error: NodeJS.ErrnoException) => void = () => {},
): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0) stream.on('error', onError);
  return stream;
}

/** Output on a pipe leaves asynchronously: what was written must be out before the process ends. */
function exitWhenWritten(code: number, end: End): void {
  process.exitCode = code;
  // An error is waited for as well, a moment: a pipe to both may be one that nobody reads.
  end.leave = () => void systemClock.startTimer(STDERR_LIMIT_MS, () => process.exit(code));
  if (!end.awaitsStdout) end.leave();
  const streams = end.awaitsStdout ? [process.stdout, process.stderr] : [process.stderr];
  let open = streams.length;
  const done = (): void => {
    open -= 1;
    // Not at once: a write that failed just now is told in the next turn.
    if (open === 0) setImmediate(() => process.exit(isOutputLost(end) ? 1 : code));
  };
  for (const stream of streams) {
    if (!stream.writable) done();
    else stream.write('', done);
  }
}

/** Output that could not be written (a full disk) is a failure; a reader that went away is not. */
function isOutputLost({ stdoutError }: End): boolean {
  if (stdoutError === undefined || stdoutError.code === 'EPIPE') return false;
  process.stderr.write(
    `burrow: Cannot write to standard output (${stdoutError.code ?? stdoutError.message})\n`,
  );
  return true;
}

main();
