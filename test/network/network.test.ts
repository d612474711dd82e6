import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Program, start } from '../e2e/controller.ts';
import { BURROW, burrow, temporaryDirectory, until } from '../e2e/daemon.ts';
import { CONTROLLER_ADDRESS, createNetwork, type Network, networkProblem } from './network.ts';

const PORT = 7443;
/** For a dead line to be noticed: 45 s, and what a look takes. */
const CONTROLLER_LIMIT_MS = 46_000;
/** 30 s, most of which are over when the controller has noticed. */
const GATEWAY_LIMIT_MS = 20_000;

interface Hosts {
  network: Network;
  directory: string;
  socket: string;
  gateway: Program;
  controller: Program;
  exec(...args: string[]): ReturnType<typeof burrow>;
  startExec(...args: string[]): Program;
}

async function startHosts(): Promise<Hosts> {
  const network = createNetwork();
  onTestFinished(() => network.close());
  const directory = temporaryDirectory();
  const socket = join(directory, 'op.sock');
  const controller = start(
    network.on('controller', [
      ...[BURROW, 'controller', 'serve', '--listen', `${CONTROLLER_ADDRESS}:${PORT}`, '--socket', socket],
      ...['--state-dir', join(directory, 'ctl')],
    ]),
  );
  await until('the controller listens', () => controller.stderr().includes('Listening for gateways'));
  const gateway = start(
    network.on('gateway', [
      ...[BURROW, 'daemon', '--controller', `tls://${CONTROLLER_ADDRESS}:${PORT}`, '--gateway-id', 'web-1'],
      ...['--state-dir', join(directory, 'gw')],
    ]),
  );
  await until('it waits', () => controller.stderr().includes('waits for approval'));
  burrow(['controller', 'approve', 'web-1', '--socket', socket]);
  await until('it is connected', () => gateway.stderr().includes('Connected to controller'));
  const to = ['--controller', socket, '--target', 'web-1'];
  return {
    ...{ network, directory, socket, gateway, controller },
    exec: (...args) => burrow(['exec', ...to, ...args]),
    startExec: (...args) => start([BURROW, 'exec', ...to, ...args]),
  };
}

async function recover(hosts: Hosts, args: readonly string[]): Promise<string> {
  const ended = await until('the outcome is recovered', () => {
    const one = hosts.exec(...args);
    return one.status === 0 && one;
  });
  return ended.stdout;
}

describe.skipIf(networkProblem() !== undefined)('a line', () => {
  it.each<[string, (network: Network) => void]>([
    ['that is reset', (network) => network.reset(PORT)],
    [
      'that is out for a moment and then reset',
      (network) => {
        network.setLink(false);
        network.setLink(true);
        network.reset(PORT);
      },
    ],
  ])('%s loses no operation', async (_what, cut) => {
    const hosts = await startHosts();
    const path = join(hosts.directory, 'ran');
    const args = ['--operation-id', 'op-1', '-c', `echo ran >> ${path}; sleep 1; echo out`];
    const running = hosts.startExec(...args);
    await until('it runs', () => existsSync(path));
    cut(hosts.network);
    expect(await running.ended).toBe(125);
    expect(running.stderr()).toContain('gateway_disconnected');
    expect(await recover(hosts, args)).toBe('out\n');
    expect(readFileSync(path, 'utf8')).toBe('ran\n');
  });

  it('that is out for a moment is not even noticed', async () => {
    const hosts = await startHosts();
    const running = hosts.startExec('-c', 'echo first; sleep 2; echo out');
    await until('it runs', () => running.stdout() === 'first\n');
    hosts.network.setLink(false);
    await delay(500);
    hosts.network.setLink(true);
    expect([await running.ended, running.stdout()]).toEqual([0, 'first\nout\n']);
  });

  it('that loses every packet is noticed at both ends, and the outcome is recovered behind it', async () => {
    const hosts = await startHosts();
    const path = join(hosts.directory, 'ran');
    const args = ['--operation-id', 'op-1', '-c', `echo ran >> ${path}; sleep 2; echo out`];
    const running = hosts.startExec(...args);
    await until('it runs', () => existsSync(path));
    hosts.network.setSilent(true);
    await until('the operator is told', () => running.child.exitCode !== null, CONTROLLER_LIMIT_MS);
    expect(running.stderr()).toContain('gateway_disconnected');
    await until(
      'the gateway noticed',
      () => /lost|ended|acknowledge|ETIMEDOUT/i.test(hosts.gateway.stderr()),
      GATEWAY_LIMIT_MS,
    );
    hosts.network.setSilent(false);
    expect(await recover(hosts, args)).toBe('out\n');
    expect(readFileSync(path, 'utf8')).toBe('ran\n');
  }, 120_000);
});
