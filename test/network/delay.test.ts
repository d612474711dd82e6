import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Program, type Site, start, startSite } from '../e2e/controller.ts';
import { BURROW, processesWith, until } from '../e2e/daemon.ts';
import { type Delay, type LongLine, startLongLine } from './long-line.ts';

/** Half a second there and back at least: a bad satellite. */
const FAR: Delay = { delayMs: 300, jitterMs: 150 };

interface Hosts {
  site: Site;
  line: LongLine;
  gateway: Program;
  startExec(...args: string[]): Program;
}

async function startHosts(delay: Delay): Promise<Hosts> {
  const site = await startSite();
  const line = await startLongLine(site.port, delay);
  const token = site.verb('enroll', 'web-1').stdout.trim();
  const gateway = site.daemon('web-1', {
    port: line.port,
    args: ['--ca', `${site.directory}/ctl/controller-certificate.pem`],
    env: { BURROW_GATEWAY_ENROLLMENT_TOKEN: token },
  });
  await until('it is connected', () => gateway.stderr().includes('Connected to controller'), 20_000);
  return {
    ...{ site, line, gateway },
    startExec: (...args) =>
      start([BURROW, 'exec', '--controller', site.socket, '--target', 'web-1', ...args]),
  };
}

/** Neither end took the distance for an absence. */
function expectNoLoss({ line, gateway, site }: Hosts): void {
  expect(line.connections()).toBe(1);
  expect(gateway.stderr()).not.toMatch(/ETIMEDOUT|trying again/);
  expect(site.controller.stderr()).not.toMatch(/ETIMEDOUT|silent/);
}

describe('a line with 300 to 450 ms each way', () => {
  it('lets a host pair', async () => {
    const site = await startSite();
    const line = await startLongLine(site.port, FAR);
    const gateway = site.daemon('web-1', { port: line.port });
    await until('it waits for approval', () => site.verb('pairings').stdout.includes('web-1 '));
    site.verb('approve', 'web-1');
    await until('it is connected', () => gateway.stderr().includes('Connected to controller'));
    expectNoLoss({ site, line, gateway, startExec: () => gateway });
  });

  it('brings output as it comes, in order', async () => {
    const hosts = await startHosts(FAR);
    const running = hosts.startExec('-c', 'for n in 1 2 3 4 5; do echo $n; sleep .3; done; sleep 1; exit 7');
    await until('the first line came', () => running.stdout().startsWith('1\n'));
    expect(running.child.exitCode).toBeNull();
    expect([await running.ended, running.stdout()]).toEqual([7, '1\n2\n3\n4\n5\n']);
    expectNoLoss(hosts);
  });

  it('cancels', async () => {
    const hosts = await startHosts(FAR);
    const mark = `37.${process.pid}`;
    const running = hosts.startExec('-c', `echo up; exec sleep ${mark}`);
    await until('it runs', () => running.stdout() === 'up\n');
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(processesWith(`sleep\0${mark}`)).toEqual([]);
    expectNoLoss(hosts);
  });

  it('times an operation where it runs, not where it is asked for', async () => {
    const hosts = await startHosts(FAR);
    const running = hosts.startExec('--timeout', '400ms', '--json', '-c', 'sleep .2; echo done');
    expect(await running.ended).toBe(0);
    expect(JSON.parse(running.stdout())).toMatchObject({ timedOut: false, stdout: 'done\n' });
    expectNoLoss(hosts);
  });

  it('brings 24 MiB whole', async () => {
    const hosts = await startHosts(FAR);
    const running = hosts.startExec('--max-output', '32MiB', '-c', 'head -c 25165824 /dev/zero | tr "\\0" x');
    expect(await running.ended).toBe(0);
    const expected = createHash('sha256').update('x'.repeat(25_165_824)).digest('hex');
    expect(createHash('sha256').update(running.stdout()).digest('hex')).toBe(expected);
    expectNoLoss(hosts);
  }, 60_000);
});

describe('a line on which little happens', () => {
  // Most of both is waiting: they wait together.
  it('stays through a silence longer than a silent gateway is waited for, and with 2 to 2.5 s each way', async () => {
    await Promise.all([keepSilent(), runFarAway()]);
  }, 80_000);
});

async function keepSilent(): Promise<void> {
  const hosts = await startHosts(FAR);
  const running = hosts.startExec('--timeout', '60s', '-c', 'sleep 43; echo late');
  await expect.poll(() => running.child.exitCode, { timeout: 60_000, interval: 200 }).toBe(0);
  expect(running.stdout()).toBe('late\n');
  expectNoLoss(hosts);
}

async function runFarAway(): Promise<void> {
  const hosts = await startHosts({ delayMs: 2_000, jitterMs: 500 });
  const running = hosts.startExec('-c', 'echo out');
  await until('it ended', () => running.child.exitCode !== null, 20_000);
  expect([running.child.exitCode, running.stdout()]).toEqual([0, 'out\n']);
  expectNoLoss(hosts);
}
