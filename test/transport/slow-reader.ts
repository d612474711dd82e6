// The far end of a stream that takes nothing until it is told to.
import { Writable } from 'node:stream';

export interface Reader {
  output: Writable;
  written: string[];
  /** Takes everything that waits. */
  read(): void;
}

export function slowReader(): Reader {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  const output = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      waiting.push(() => {
        written.push(chunk.toString());
        done();
      });
    },
  });
  output.on('error', () => {});
  const read = (): void => {
    for (let take = waiting.shift(); take !== undefined; take = waiting.shift()) take();
  };
  return { output, written, read };
}

/** Takes everything until what was sent so far has left. */
export async function readAll(reader: Reader, writer: { flushed(): Promise<void> }): Promise<void> {
  const flushed = writer.flushed();
  let done = false;
  void flushed.then(() => (done = true));
  while (!done) {
    reader.read();
    await new Promise(setImmediate);
  }
}
