import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../src/gateway/connection.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { serveStdio } from '../../src/transport/stdio.ts';
import { readAll, slowReader } from './slow-reader.ts';

const MIB = 1024 * 1024;

/** A gateway that says what it was given, and is busy until it is told otherwise. */
function serve() {
  const seen: string[] = [];
  const idle = Promise.withResolvers<void>();
  let connection: Connection | undefined;
  const gateway: Gateway = {
    connect(peer) {
      connection = peer;
      return {
        receive: (line) => void seen.push(`line ${line}`),
        receiveOversized: (head) => void seen.push(`oversized ${head.subarray(0, 4)}`),
        setSaturated: (saturated) => void seen.push(`saturated ${saturated}`),
        idle: () => idle.promise,
      };
    },
    stop: () => Promise.resolve(),
  };
  const input = new PassThrough();
  const reader = slowReader();
  const { output } = reader;
  const server = serveStdio(gateway, { input, output });
  const send = (text: string): void => connection?.send(text);
  return { seen, idle, input, output, reader, server, send, connection };
}

async function turn(): Promise<void> {
  await new Promise(setImmediate);
}

describe('serveStdio()', () => {
  it('hands every line on, whatever the chunks, and skips one that is too long', async () => {
    const { seen, input } = serve();
    input.write('{"a"');
    input.write(':1}\r\n\n{"b":2}\n{"c');
    input.write(`${'x'.repeat(3 * MIB)}\n{"d":4}\n`);
    await turn();
    await turn();

    expect(seen).toEqual(['line {"a":1}', 'line {"b":2}', 'oversized {"cx', 'line {"d":4}']);
  });

  it('speaks as stdio with whole frames', () => {
    expect(serve().connection).toMatchObject({ transport: 'stdio-jsonl', maxFrameBytes: 2 * MIB });
  });

  it('has ended when its input ended and everything is answered, a last line without newline too', async () => {
    const { seen, idle, input, server } = serve();
    let reason = '';
    void server.ended.then((why) => (reason = why));
    input.end('{"last":1}');
    await turn();
    await turn();
    expect([seen, reason]).toEqual([['line {"last":1}'], '']);
    idle.resolve();

    expect(await server.ended).toBe('input_ended');
  });

  it('has ended when its input fails', async () => {
    const { idle, input, server } = serve();
    idle.resolve();
    input.destroy(new Error('EIO'));

    expect(await server.ended).toBe('input_ended');
  });

  it.each(['close', 'error'])('has ended when its output has: %s', async (how) => {
    const { output, server } = serve();
    output.destroy(how === 'error' ? new Error('EPIPE') : undefined);

    expect(await server.ended).toBe('output_closed');
  });

  it('holds work back for a reader that falls behind, and takes no request when far behind', async () => {
    const { seen, input, reader, send, server } = serve();
    for (let n = 0; n < 20; n += 1) send(`${'x'.repeat(MIB)}\n`);
    input.write('{"late":1}\n');
    await turn();
    expect(seen).toEqual(['saturated true']);

    await readAll(reader, server);
    await turn();
    expect(seen).toEqual(['saturated true', 'saturated false', 'line {"late":1}']);
  });
});
