// 64 MiB of output through the gateway to a reader, against the same bytes through one bare Node.js pipe; peak memory.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY, memoryMiB } from './daemon.ts';
import { type Bench, compare } from './figure.ts';

const ROUNDS = 9;
const OUTPUT_BYTES = 64 * 1024 * 1024;

export const gatewayOutput: Bench = {
  name: 'output',
  async run() {
    const directory = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
    const file = join(directory, 'text');
    writeFileSync(file, logText(OUTPUT_BYTES));
    let peakMiB = 0;
    try {
      const result = await compare(
        ROUNDS,
        () => barePipe(file),
        async () => {
          const { elapsedMs, peak } = await throughGateway(file);
          peakMiB = Math.max(peakMiB, peak);
          return elapsedMs;
        },
      );
      const rate = (ms: number): string => `${(OUTPUT_BYTES / 1024 / 1024 / (ms / 1_000)).toFixed(0)} MiB/s`;
      return [
        {
          name: '64 MiB of text to the reader, rate of a bare pipe',
          value: result.ratio,
          unit: '×',
          limit: { kind: 'min', value: 0.5 },
          detail: `${rate(result.b)} of ${rate(result.a)}`,
        },
        {
          name: 'peak memory of the daemon during it',
          value: peakMiB,
          unit: 'MiB',
          limit: { kind: 'max', value: 160 },
          detail: 'VmHWM',
        },
      ];
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** Lines like those of a build log. */
function logText(sizeBytes: number): Buffer {
  const lines = Array.from(
    { length: 4_000 },
    (_, index) => `[${index}] compiling src/module-${index % 97}/file-${index}.ts: ok in ${index % 313} ms`,
  );
  const block = Buffer.from(`${lines.join('\n')}\n`);
  return Buffer.alloc(sizeBytes, block);
}

function barePipe(file: string): Promise<number> {
  const start = performance.now();
  return new Promise((resolve) => {
    const child = spawn('/bin/cat', [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let received = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    child.on('close', () => {
      if (received !== OUTPUT_BYTES) throw new Error(`Pipe gave ${received} bytes`);
      resolve(performance.now() - start);
    });
  });
}

/** From the request to the last byte of the response; the daemon is up before. */
async function throughGateway(file: string): Promise<{ elapsedMs: number; peak: number }> {
  const daemon = spawn(BINARY, ['daemon'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let tail = '';
  let waiting: (() => void) | undefined;
  daemon.stdout.on('data', (chunk: Buffer) => {
    tail = chunk.subarray(-4_096).toString('latin1');
    if (tail.endsWith('}\n')) waiting?.();
  });
  const answered = (mark: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = () => {
        if (tail.includes(mark)) resolve();
      };
    });
  const hello = answered('protocolVersion');
  daemon.stdin.write('{"id":"h","method":"hello"}\n');
  await hello;
  const ended = answered('"stdoutBytes"');
  const start = performance.now();
  const params = { executable: '/bin/cat', args: [file], maxOutputBytes: OUTPUT_BYTES * 2 };
  daemon.stdin.write(`${JSON.stringify({ id: 'x', method: 'process.exec', params })}\n`);
  await ended;
  const elapsedMs = performance.now() - start;
  const peak = memoryMiB(daemon.pid ?? 0, 'VmHWM');
  const closed = new Promise((resolve) => daemon.once('close', resolve));
  daemon.stdin.end();
  await closed;
  return { elapsedMs, peak };
}
