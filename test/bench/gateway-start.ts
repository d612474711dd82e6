// Start-up until `hello` is answered, against `node -e 0`; memory of an idle daemon.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { BINARY, memoryMiB, startDaemon } from './daemon.ts';
import { type Bench, compare } from './figure.ts';

const ROUNDS = 25;

export const gatewayStart: Bench = {
  name: 'start',
  async run() {
    const result = await compare(ROUNDS, helloFromDaemon, bareNode);
    const daemon = await startDaemon();
    await delay(1_000);
    const idleMiB = memoryMiB(daemon.pid, 'VmRSS');
    await daemon.stop();
    return [
      {
        name: 'start of the daemon until hello is answered, of node -e 0',
        value: result.ratio,
        unit: '×',
        limit: { kind: 'max', value: 1.5 },
        detail: `${result.a.toFixed(1)} ms against ${result.b.toFixed(1)} ms`,
      },
      {
        name: 'memory of an idle daemon',
        value: idleMiB,
        unit: 'MiB',
        limit: { kind: 'max', value: 65 },
        detail: 'VmRSS',
      },
    ];
  },
};

async function helloFromDaemon(): Promise<number> {
  const start = performance.now();
  const daemon = spawn(BINARY, ['daemon'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => daemon.once('close', resolve));
  daemon.stdin.write('{"id":1,"method":"hello"}\n');
  const elapsedMs = await new Promise<number>((resolve) =>
    daemon.stdout.once('data', () => resolve(performance.now() - start)),
  );
  daemon.stdin.end();
  await closed;
  return elapsedMs;
}

async function bareNode(): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('close', resolve));
  return performance.now() - start;
}
