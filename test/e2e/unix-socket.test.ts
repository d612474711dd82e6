import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BURROW, burrow, type Daemon, startDaemon, temporaryDirectory, until } from './daemon.ts';

async function serving(path: string): Promise<Daemon> {
  const daemon = startDaemon({ args: ['--socket', path] });
  await until('it listens', () => daemon.stderr().includes('Listening'));
  return daemon;
}

describe('burrow daemon --socket', () => {
  it('serves commands of this host, whatever its own stdin does, and goes without a trace', async () => {
    const path = join(temporaryDirectory(), 'b.sock');
    const daemon = await serving(path);
    daemon.end();
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(burrow(['exec', '--socket', path, '--', 'sh', '-c', 'echo out; exit 3'])).toMatchObject({
      stdout: 'out\n',
      status: 3,
    });
    expect(burrow(['client', 'hello', '--socket', path, '--json']).stdout).toContain(
      '"transport":"unix-jsonl"',
    );
    expect(burrow(['fs', 'read', '--socket', path, '/etc/hostname']).status).toBe(0);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(path)).toBe(false);
  });

  it('refuses the socket of a living daemon and takes that of a killed one', async () => {
    const path = join(temporaryDirectory(), 'b.sock');
    const first = await serving(path);
    const refused = burrow(['daemon', '--socket', path]);
    expect([refused.status, refused.stderr]).toEqual([78, expect.stringContaining('in use')]);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(existsSync(path)).toBe(true);
    await serving(path);
    expect(burrow(['client', 'hello', '--socket', path]).status).toBe(0);
  });

  it('keeps the outcome of a client that was killed', async () => {
    const path = join(temporaryDirectory(), 'b.sock');
    await serving(path);
    const command = [
      'exec',
      '--socket',
      path,
      '--operation-id',
      'op',
      '--json',
      '-c',
      'sleep 0.5; echo done',
    ];
    const client = startDaemon({ command: [BURROW, ...command] });
    await until('it runs', () => burrow(['client', 'health', '--socket', path]).stdout.includes('op'));
    client.child.kill('SIGKILL');
    await until('it has ended', () => !/"op"/.test(burrow(['client', 'health', '--socket', path]).stdout));
    expect(burrow(command).stdout).toContain('"stdout":"done\\n"');
  });

  it.each([
    ['exec', '--', 'true'],
    ['client', 'hello'],
  ])('says that nobody is there: %s', (...words) => {
    const [name, ...others] = words;
    const path = join(temporaryDirectory(), 'none.sock');
    const ended = burrow([
      String(name),
      ...(name === 'client' ? [...others, '--socket', path] : ['--socket', path, ...others]),
    ]);
    expect([ended.status, ended.stderr]).toEqual([125, expect.stringContaining('is the daemon running?')]);
  });
});
