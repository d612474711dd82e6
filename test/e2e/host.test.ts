// `burrow host run` through the built binary: what the unit starts.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, burrow, startDaemon } from './daemon.ts';

function place(settings: string): { args: string[]; socket: string; stateDir: string } {
  const directory = mkdtempSync(join(tmpdir(), 'burrow-host-run-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o700);
  const file = join(directory, 'gateway.env');
  const socket = join(directory, 'gateway.sock');
  writeFileSync(file, settings);
  return { args: ['--settings', file, '--socket', socket], socket, stateDir: join(directory, 'state') };
}

function overSocket(socket: string, ...command: string[]): string {
  return spawnSync(BURROW, ['exec', '--socket', socket, '--', ...command], { encoding: 'utf8' }).stdout;
}

async function untilServed(socket: string): Promise<void> {
  while (overSocket(socket, 'echo', 'up') !== 'up\n') await delay(50);
}

describe('burrow host run', () => {
  it('serves the socket, gives values to commands as they stand, and ends at SIGTERM', async () => {
    const { args, socket, stateDir } = place(`MINE='a\\b $c "d" '\n`);
    const daemon = startDaemon({
      command: [BURROW, 'host', 'run'],
      args,
      env: { BURROW_GATEWAY_STATE_DIR: stateDir },
    });
    await untilServed(socket);

    expect(overSocket(socket, 'printenv', 'MINE')).toBe('a\\b $c "d" \n');
    daemon.child.kill('SIGTERM');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['a value that would change', 'TOKEN=se\\cret\n', 'gateway.env:1'],
    ['a URL that is not tls', 'BURROW_GATEWAY_CONTROLLER_URL=https://x\nBURROW_GATEWAY_ID=h\n', 'tls://'],
    ['a controller without an id', 'BURROW_GATEWAY_CONTROLLER_URL=tls://x\n', 'BURROW_GATEWAY_ID'],
  ])('refuses %s with status 78 and a line that says why', (_what, settings, reason) => {
    const { args, stateDir } = place(settings);

    const ran = spawnSync(BURROW, ['host', 'run', ...args], {
      encoding: 'utf8',
      env: { BURROW_GATEWAY_STATE_DIR: stateDir },
    });

    expect(ran.status).toBe(78);
    expect(ran.stderr).toContain(reason);
    expect(ran.stderr).not.toContain('se\\cret');
  });

  it('refuses settings that are named and not there', () => {
    const { args, stateDir } = place('');
    const ran = burrow(['host', 'run', ...args, '--state-dir', stateDir, '--settings', 'nope.env']);

    expect(ran).toMatchObject({
      status: 78,
      stdout: '',
      stderr: 'burrow: Cannot read the settings "nope.env" (ENOENT)\n',
    });
  });

  it('keeps its state where --state-dir says, and nowhere else', async () => {
    const { args, socket, stateDir } = place('');
    const live = `${stateDir}-live`;
    const daemon = startDaemon({
      command: [BURROW, 'host', 'run'],
      args: [...args, '--state-dir', stateDir],
      env: { BURROW_GATEWAY_STATE_DIR: live },
    });
    await untilServed(socket);
    daemon.child.kill('SIGTERM');

    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect([existsSync(stateDir), existsSync(live)]).toEqual([true, false]);
  });

  it('tries settings out, in its example, with a state and a socket of their own', () => {
    const example = /\$? ?burrow host run --settings .*/.exec(burrow(['host', 'run', '--help']).stdout)?.[0];

    expect(example).toMatch(/--state-dir \.\/\S+/);
    expect(example).toMatch(/--socket \.\/\S+/);
  });
});

describe('burrow host configure', () => {
  // Only root can be another user.
  it.runIf(process.getuid?.() === 0).each([
    ['this system', [], 'run this as root, or with --root DIR for a system below DIR (EACCES)'],
    ['a system below', ['--root', '.'], 'run this as its owner (EACCES)'],
  ])('tells an ordinary user who may change %s', (_what, flags, advice) => {
    const root = dirname(place('').socket);
    chmodSync(root, 0o755);

    const ran = spawnSync(BURROW, ['host', 'configure', '--gateway-id', 'x', ...flags], {
      encoding: 'utf8',
      uid: 65_534,
      gid: 65_534,
      cwd: root,
    });

    expect(ran).toMatchObject({ status: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^burrow: Cannot change "\S*etc\/burrow-host-gateway\/gateway.env": .*\n$/);
    expect(ran.stderr).toContain(advice);
  });
});

// Node.js has an option of this name and looks for it in all arguments.
describe('--env-file', () => {
  it.each([
    ['a group that has settings', ['host', 'run', '--env-file', 'nope']],
    ['another command', ['version', '--env-file=nope']],
  ])('is an unknown flag of %s', (_what, args) => {
    expect(burrow(args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Flag "--env-file" is not known'),
    });
  });

  it('reaches a command as any argument does', () => {
    const ran = burrow(['exec', '--', 'echo', '--env-file', 'nope', '--env-file-if-exists=nope']);

    expect(ran).toMatchObject({
      status: 0,
      stdout: '--env-file nope --env-file-if-exists=nope\n',
      stderr: '',
    });
  });
});
