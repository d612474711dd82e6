// A system whose output carries the name of a host in front of every line, so that several can write at once. A line is
// written when it is whole; what a host writes is never mixed with another's within one.

import { Writable } from 'node:stream';
import type { OutputStream, System } from './system.ts';

const NEWLINE = 0x0a;
/** A longer line is cut, so that output without line ends takes no more memory than this. */
const MAX_LINE_BYTES = 64 * 1024;

export type PrefixedSystem = System & {
  /** Writes what has no line end yet, with one. Done at once when stdout was abandoned. */
  finish(): Promise<void>;
};

export function prefixed(system: System, prefix: string): PrefixedSystem {
  const stdout = prefixLines(system.stdout, prefix);
  const stderr = prefixLines(system.stderr, prefix);
  const end = (stream: Writable): Promise<void> => new Promise((resolve) => stream.end(resolve));
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>();
  const finish = async (): Promise<void> => {
    await Promise.race([Promise.all([end(stdout), end(stderr)]), abandoned]);
  };
  const abandonStdout = (): void => {
    system.abandonStdout();
    abandon();
  };
  // Not a copy: reading a stream of the system opens it.
  return Object.create(system, {
    stdout: { value: stdout },
    stderr: { value: stderr },
    abandonStdout: { value: abandonStdout },
    finish: { value: finish },
  });
}

function prefixLines(target: OutputStream, prefix: string): OutputStream {
  const head = Buffer.from(prefix);
  const newline = Buffer.from([NEWLINE]);
  let rest: Buffer[] = [];
  let restBytes = 0;
  const keep = (part: Buffer): void => {
    rest.push(part);
    restBytes += part.length;
  };
  const take = (): Buffer[] => {
    const parts = [head, ...rest];
    rest = [];
    restBytes = 0;
    return parts;
  };
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const parts: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        parts.push(...take(), chunk.subarray(start, end + 1));
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
      if (restBytes > MAX_LINE_BYTES) parts.push(...take(), newline);
      forward(target, Buffer.concat(parts), done);
    },
    final(done) {
      forward(target, restBytes === 0 ? Buffer.alloc(0) : Buffer.concat([...take(), newline]), done);
    },
  });
  // The stream below is shared by all hosts; its end is the end of each.
  const close = (): void => void stream.destroy();
  target.once('close', close);
  stream.once('close', () => target.removeListener('close', close));
  return stream;
}

/** Done when the reader can take more. */
function forward(target: OutputStream, bytes: Buffer, done: () => void): void {
  if (bytes.length === 0 || !target.writable || target.write(bytes)) return done();
  const go = (): void => {
    target.removeListener('drain', go);
    target.removeListener('close', go);
    done();
  };
  target.once('drain', go);
  target.once('close', go);
}
