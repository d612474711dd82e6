// The built daemon for the stress run: a client, its pid, and what the kernel says about it.
import { readdirSync, readFileSync } from 'node:fs';
import { childProcess } from '../../src/client/child-process.ts';
import { createGatewayClient, type GatewayClient } from '../../src/client/client.ts';
import { launchWithNode } from '../../src/process/launcher.ts';

const BINARY = process.env['BURROW_BINARY'] ?? new URL('../../dist/burrow', import.meta.url).pathname;

export interface StressDaemon {
  client: GatewayClient;
  pid: number;
  openDescriptors(): number;
  peakMiB(): number;
}

export async function startDaemon(stateDirectory: string): Promise<StressDaemon> {
  let pid = 0;
  const client = createGatewayClient(
    childProcess({
      command: [BINARY, 'daemon', '--state-dir', stateDirectory],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '/tmp' },
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
  return {
    client,
    pid,
    openDescriptors: () => readdirSync(`/proc/${pid}/fd`).length,
    peakMiB: () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  };
}

/** Living processes with `mark` in their command line. */
export function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      const isDead = /^State:\s+[ZX]/m.test(readFileSync(`/proc/${name}/status`, 'utf8'));
      return !isDead && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(mark);
    } catch {
      return false; // It ended while it was looked at.
    }
  });
}
