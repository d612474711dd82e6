// Two hosts in network namespaces of their own, one cable between them (iproute2; nftables for silence). Needs root.
// Everything is removed by `close`.
import { execFileSync, spawnSync } from 'node:child_process';

export const CONTROLLER_ADDRESS = '10.231.78.1';
const GATEWAY_ADDRESS = '10.231.78.2';

export interface Network {
  /** The command line that runs `command` on that host. */
  on(host: 'controller' | 'gateway', command: readonly string[]): [string, ...string[]];
  /** Takes the cable out, or puts it back. */
  setLink(up: boolean): void;
  /** Loses every packet, both ways, without a word. */
  setSilent(silent: boolean): void;
  /** Ends every connection of the gateway to `port` with a reset, as a firewall that forgot its state does. */
  reset(port: number): void;
  close(): void;
}

/** Why there can be no network here; undefined when there can. */
export function networkProblem(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  for (const tool of ['ip', 'nft', 'ss']) {
    if (spawnSync(tool, ['-V']).error !== undefined) return `no ${tool}`;
  }
  const name = `burrow-probe-${process.pid}`;
  if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return 'no network namespaces';
  run('ip', 'netns', 'del', name);
  return undefined;
}

export function createNetwork(): Network {
  const namespaces = { controller: `burrow-ctl-${process.pid}`, gateway: `burrow-gw-${process.pid}` };
  const [near, far] = [`bc${process.pid}`, `bg${process.pid}`];
  const inside = (host: keyof typeof namespaces, ...command: string[]): void =>
    run('ip', 'netns', 'exec', namespaces[host], ...command);
  for (const name of Object.values(namespaces)) run('ip', 'netns', 'add', name);
  run(
    'ip',
    'link',
    'add',
    near,
    'netns',
    namespaces.controller,
    'type',
    'veth',
    'peer',
    'name',
    far,
    'netns',
    namespaces.gateway,
  );
  for (const [host, link, address] of [
    ['controller', near, CONTROLLER_ADDRESS],
    ['gateway', far, GATEWAY_ADDRESS],
  ] as const) {
    inside(host, 'ip', 'addr', 'add', `${address}/24`, 'dev', link);
    inside(host, 'ip', 'link', 'set', link, 'up');
    inside(host, 'ip', 'link', 'set', 'lo', 'up');
  }
  return {
    on: (host, command) => ['ip', 'netns', 'exec', namespaces[host], ...command],
    setLink: (up) => inside('controller', 'ip', 'link', 'set', near, up ? 'up' : 'down'),
    setSilent(silent) {
      if (!silent) return inside('controller', 'nft', 'delete', 'table', 'ip', 'silence');
      inside('controller', 'nft', 'add table ip silence');
      for (const hook of ['input', 'output']) {
        inside(
          'controller',
          'nft',
          `add chain ip silence ${hook} { type filter hook ${hook} priority 0; policy drop; }`,
        );
      }
    },
    reset: (port) => inside('gateway', 'ss', '-K', 'dport', '=', String(port)),
    close() {
      for (const name of Object.values(namespaces)) spawnSync('ip', ['netns', 'del', name]);
    },
  };
}

function run(file: string, ...args: string[]): void {
  execFileSync(file, args, { stdio: 'pipe' });
}
