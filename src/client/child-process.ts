// A gateway in a child process of its own, spoken to over its stdin and stdout. The child ends when its stdin ends.

import type { Launch } from '../process/launcher.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { createLineSplitter } from '../protocol/json-lines.ts';
import type { OpenChannel } from './channel.ts';

export interface ChildProcessOptions {
  /** The program and its arguments, such as `['/usr/bin/burrow', 'daemon']`. */
  command: readonly [file: string, ...args: string[]];
  cwd: string;
  env: Readonly<Record<string, string>>;
  launch: Launch;
  /** What the child says on stderr: its log. */
  onLog: (chunk: Buffer) => void;
}

export function childProcess(options: ChildProcessOptions): OpenChannel {
  const [file, ...args] = options.command;
  return (events) => {
    let closing: (() => void) | undefined;
    let exit: string | undefined;
    let openPipes = 2;
    const lines = createLineSplitter({
      maxLineBytes: MAX_FRAME_BYTES,
      onLine: (line) => events.onFrame(line),
      onOversized: () => {},
    });
    const settle = (): void => {
      if (exit === undefined || openPipes > 0) return;
      events.onClosed(exit);
      closing?.();
    };
    const child = options.launch(
      { file, args, cwd: options.cwd, env: options.env, stdin: 'pipe' },
      {
        onChunk: (stream, chunk) => (stream === 'stdout' ? lines.push(chunk) : options.onLog(chunk)),
        onPipeEnd(stream) {
          if (stream === 'stdout') lines.end();
          openPipes -= 1;
          settle();
        },
        onExit(exitCode, signal) {
          exit =
            signal === null ? `gateway exited with status ${exitCode}` : `gateway was ended by ${signal}`;
          settle();
        },
        onFailed(errno) {
          exit = `cannot start "${file}": ${errno}`;
          openPipes = 0;
          settle();
        },
      },
    );
    return {
      send: (line) => void child?.stdin?.write(line),
      pause: () => child?.pause(),
      resume: () => child?.resume(),
      close() {
        if (exit !== undefined && openPipes === 0) return Promise.resolve();
        child?.stdin?.end();
        return new Promise((resolve) => {
          closing = resolve;
        });
      },
    };
  };
}
