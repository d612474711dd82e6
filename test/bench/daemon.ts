// The built daemon as the benches drive it: over its stdin and stdout, through GatewayClient.
import { readFileSync } from 'node:fs';
import { childProcess } from '../../src/client/child-process.ts';
import { createGatewayClient, type GatewayClient } from '../../src/client/client.ts';
import { launchWithNode } from '../../src/process/launcher.ts';

export const BINARY = new URL('../../dist/burrow', import.meta.url).pathname;

export interface BenchDaemon {
  client: GatewayClient;
  pid: number;
  stop(): Promise<void>;
}

export async function startDaemon(args: readonly string[] = []): Promise<BenchDaemon> {
  let pid = 0;
  const client = createGatewayClient(
    childProcess({
      command: [BINARY, 'daemon', ...args],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      launch(request, events) {
        const child = launchWithNode(request, events);
        pid = child?.pid ?? 0;
        return child;
      },
      onLog: (chunk) => process.stderr.write(chunk),
    }),
  );
  const hello = await client.call('hello');
  if (hello.status !== 'ok') throw new Error(`Daemon did not answer hello: ${JSON.stringify(hello)}`);
  return { client, pid, stop: () => client.close() };
}

/** Throws when the operation did not run to exit 0: a bench must not time failures. */
export async function runTrue(client: GatewayClient, operationId: string): Promise<void> {
  const answer = await client.execute('process.exec', { operationId, executable: '/bin/true' });
  const outcome = answer.status === 'ok' ? (answer.result['outcome'] as { exitCode: number }) : undefined;
  if (outcome?.exitCode !== 0) throw new Error(`Operation failed: ${JSON.stringify(answer)}`);
}

/** `VmRSS` or `VmHWM` of a process, in MiB. */
export function memoryMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8')
    .split('\n')
    .find((text) => text.startsWith(field));
  return Number(/\d+/.exec(line ?? '')?.[0]) / 1024;
}
