import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../transport/tls/certificates.ts';
import { freePort, type Site, start, startSite } from './controller.ts';
import { BURROW, burrow, processesWith, until } from './daemon.ts';

/** Every file below the site, and what its programs said. */
function everythingOf(site: Site, ...texts: string[]): string {
  const files = readdirSync(site.directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  return [...files, ...texts, site.controller.stderr()].join('\n');
}

describe('burrow exec --controller', () => {
  it('streams live, exits as the command did, and shows the host in its evidence', async () => {
    const site = await startSite();
    await site.paired('web-1');
    const running = start([
      ...([BURROW, 'exec', '--controller', site.socket, '--target', 'web-1'] as const),
      ...['-c', 'echo first; read -t 0 x; sleep 1; echo second >&2; exit 7'],
    ]);
    await until('the first line came', () => running.stdout() === 'first\n');
    expect(running.child.exitCode).toBeNull();
    expect(await running.ended).toBe(7);
    expect(running.stderr()).toContain('second\n');
    expect(JSON.parse(site.exec('web-1', ['--json', '--', 'true']).stdout)).toMatchObject({ exitCode: 0 });
  });

  it('runs on several hosts, each line with its host, and ends with the worst status', async () => {
    const site = await startSite();
    await Promise.all([site.paired('web-1'), site.paired('web-2')]);
    const ended = burrow([
      ...['exec', '--controller', site.socket, '--target', 'web-1', '--target', 'web-2', '--target', 'gone'],
      ...['-c', 'echo a; printf b'],
    ]);
    expect(ended.stdout.split('\n').toSorted()).toEqual(['', 'web-1: a', 'web-1: b', 'web-2: a', 'web-2: b']);
    expect(ended.stderr).toContain('gone: burrow: Gateway is not connected (gateway_not_connected)\n');
    expect(ended.status).toBe(125);
  });

  it('cancels on Ctrl-C', async () => {
    const site = await startSite();
    await site.paired('web-1');
    const mark = `31.${process.pid}1`;
    const running = start([
      ...([BURROW, 'exec', '--controller', site.socket, '--target', 'web-1', '--', 'sleep', mark] as const),
    ]);
    const isRunning = (): boolean =>
      processesWith(mark).some((pid) => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'sleep\n');
    await until('it runs', isRunning);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(isRunning()).toBe(false);
  });

  it('delivers a protected value and leaves it nowhere', async () => {
    const site = await startSite();
    const daemon = await site.paired('web-1');
    const ended = site.exec(
      'web-1',
      ['--secret', 'TOKEN', '-c', 'echo "<$TOKEN>"; printf %s "$TOKEN" | wc -c'],
      {
        TOKEN: 's3cr3t-value',
      },
    );
    expect([ended.stdout, ended.status]).toEqual(['<[redacted]>\n12\n', 0]);
    expect(everythingOf(site, daemon.stderr())).not.toContain('s3cr3t-value');
  });

  it.each([
    [['--secret', 'NOT_SET'], /"NOT_SET" is not set/],
    [['--secret', 'TOKEN=value'], /takes NAME or NAME=@FILE/],
    [['--secret', 'TOKEN=@/nowhere'], /cannot be read/],
  ])('refuses %j', (args, message) => {
    const ended = burrow(['exec', '--controller', '/nowhere', '--target', 'x', ...args, '--', 'true']);
    expect(ended.status).toBe(2);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toContain('value\n');
  });

  it.each([
    [['--target', 'x'], /needs --controller/],
    [['--controller', 'x'], /"--target" is missing/],
    [['--controller', 'x', '--target', 'y', '--socket', 'z'], /Both/],
    [['--secret', 'HOME'], /needs --controller/],
  ])('refuses the flags %j together', (args, message) => {
    const ended = burrow(['exec', ...args, '--', 'true']);
    expect([ended.status, ended.stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('says so when no controller listens', () => {
    const ended = burrow(['exec', '--controller', '/nowhere/op.sock', '--target', 'x', '--', 'true']);
    expect([ended.status, ended.stderr]).toEqual([125, expect.stringContaining('/nowhere/op.sock')]);
  });
});

describe('burrow fs and client --controller', () => {
  it('reach the host', async () => {
    const site = await startSite();
    await site.paired('web-1');
    const to = ['--controller', site.socket, '--target', 'web-1'];
    const path = join(site.directory, 'note.txt');
    expect(burrow(['fs', 'write', path, '--content', 'on hold', ...to]).status).toBe(0);
    expect(burrow(['fs', 'read', path, ...to]).stdout).toBe('on hold');
    expect(burrow(['client', 'hello', '--json', ...to]).stdout).toContain('"transport":"tls-jsonl-outbound"');
    const raw = burrow(['client', 'raw', ...to], { input: '{"id":1,"method":"health"}\n' });
    expect(JSON.parse(raw.stdout)).toMatchObject({
      type: 'response',
      requestId: 1,
      result: { status: 'ok' },
    });
  });
});

describe('a restart of the controller', () => {
  it('leaves operations running; their outcome is recovered with the same id, and nothing runs twice', async () => {
    const site = await startSite();
    await site.paired('web-1');
    const counter = join(site.directory, 'count');
    const command = ['--operation-id', 'op-1', '-c', `echo run >> ${counter}; sleep 1; echo done`];
    const running = start([BURROW, 'exec', '--controller', site.socket, '--target', 'web-1', ...command]);
    await until('it runs', () => site.verb('operations').stdout.includes('op-1'));

    await site.restart('SIGKILL');
    expect(await running.ended).toBe(125);

    const recovered = await until('the outcome is there', () => {
      const ended = site.exec('web-1', command);
      return ended.status === 0 && ended;
    });
    expect(recovered.stdout).toBe('done\n');
    expect(readFileSync(counter, 'utf8')).toBe('run\n');
    expect(JSON.parse(site.verb('operations', '--json').stdout).operations.at(-1)).toMatchObject({
      operationId: 'op-1',
      status: 'completed',
      exitCode: 0,
      replay: true,
    });
  });

  it('with another key and certificate is noticed by the daemon, and no work is done', async () => {
    const site = await startSite();
    const daemon = await site.paired('web-1');
    await site.restart('SIGTERM', 'other-state');
    await until('it is noticed', () => /controller_(tls_)?identity_mismatch/.test(daemon.stderr()));
    expect(site.exec('web-1', ['--', 'true']).stderr).toContain('gateway_not_connected');
    expect(site.verb('pairings').stdout).toBe('');
  });
});

describe('burrow daemon and burrow controller', () => {
  it('come together by enrollment, with the certificate of the controller as CA', async () => {
    const site = await startSite();
    const token = site.verb('enroll', 'web-2').stdout.trim();
    const daemon = site.daemon('web-2', {
      args: ['--ca', join(site.directory, 'ctl', 'controller-certificate.pem')],
      env: { BURROW_GATEWAY_ENROLLMENT_TOKEN: token },
    });
    await until('it is connected', () => daemon.stderr().includes('Connected to controller'));
    expect(site.exec('web-2', ['--', 'echo', 'in']).stdout).toBe('in\n');
    expect(daemon.stderr() + site.controller.stderr()).not.toContain(token);
  });

  it('tell a wrong token', async () => {
    const site = await startSite();
    site.verb('enroll', 'web-2');
    const daemon = site.daemon('web-2', {
      args: ['--ca', join(site.directory, 'ctl', 'controller-certificate.pem')],
      env: { BURROW_GATEWAY_ENROLLMENT_TOKEN: 'wrong' },
    });
    await until(
      'both say so',
      () => /auth_failed/.test(daemon.stderr()) && /auth_failed/.test(site.controller.stderr()),
    );
  });

  it('tell a second host with the same id, and leave the first alone', async () => {
    const site = await startSite();
    await site.paired('web-1');
    const second = site.daemon('web-1', { state: 'second' });
    await until('it is told', () => second.stderr().includes('gateway_identity_conflict'));
    expect(site.exec('web-1', ['--', 'echo', 'first']).stdout).toBe('first\n');
  });

  it('tell a rejection, and a revocation', async () => {
    const site = await startSite();
    const daemon = site.daemon('web-1');
    await until('it waits', () => site.verb('pairings').stdout !== '');
    site.verb('reject', 'web-1');
    await until('it is told', () => daemon.stderr().includes('pairing_rejected'));
    await until('it asks again', () => site.verb('pairings').stdout !== '');
    site.verb('approve', 'web-1');
    await until('it is connected', () => daemon.stderr().includes('Connected to controller'));
    expect(site.verb('revoke', 'web-1').status).toBe(0);
    await until('it has to ask again', () => site.verb('pairings').stdout !== '');
    await until('it is told', () =>
      /the controller ended the connection: .+ was revoked \(unknown_node\)/.test(daemon.stderr()),
    );
    expect(site.exec('web-1', ['--', 'true']).stderr).toContain('gateway_not_ready');
  });
});

describe('burrow controller', () => {
  it.each(['serve', 'gateways', 'pairings', 'approve', 'reject', 'revoke', 'enroll', 'operations'])(
    '%s --help has two examples',
    (verb) => {
      const { stdout, status } = burrow(['controller', verb, '--help']);
      expect(status).toBe(0);
      expect(stdout.slice(stdout.indexOf('EXAMPLES')).match(/^ {2}burrow controller /gm)).toHaveLength(2);
      expect(stdout).toContain('--json');
    },
  );

  it.each([
    [['--listen', '127.0.0.1:0'], 2],
    [['--listen', 'nonsense', '--state-dir', 'x'], 2],
    [['--listen', '127.0.0.1:0', '--state-dir', '/dev/null/state'], 78],
    [['--listen', '192.0.2.1:1', '--state-dir', '@/state', '--socket', '@/s'], 78],
    [['--listen', '127.0.0.1:0', '--state-dir', '@/state', '--socket', '/nowhere/s'], 78],
    [
      [
        '--listen',
        '127.0.0.1:0',
        '--state-dir',
        '@/state',
        '--socket',
        '@/s',
        '--cert',
        '/nowhere',
        '--key',
        '/nowhere',
      ],
      78,
    ],
  ])('serve %j ends with %i and one line', async (args, status) => {
    const { directory } = await startSite();
    const ended = burrow(['controller', 'serve', ...args.map((arg) => arg.replace('@', directory))]);
    expect(ended.status).toBe(status);
    expect(ended.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
  });

  it('refuses a second controller on the same socket, and stops in time', async () => {
    const site = await startSite();
    const second = burrow([
      ...['controller', 'serve', '--listen', '127.0.0.1:0', '--socket', site.socket],
      ...['--state-dir', join(site.directory, 'two')],
    ]);
    expect([second.status, second.stderr]).toEqual([78, expect.stringContaining('is in use')]);
    site.controller.child.kill('SIGTERM');
    expect(await site.controller.ended).toBe(0);
    expect(readdirSync(site.directory)).not.toContain('op.sock');
  });
});

describe('given certificate files', () => {
  it('are read again on SIGHUP; a pair that does not fit is told and not used', async () => {
    const site = await startSite();
    const [one, two] = ['one', 'two'].map((name) =>
      createAuthority(site.directory, name).issue(`${name}-leaf`),
    );
    const files = { cert: join(site.directory, 'cert.pem'), key: join(site.directory, 'key.pem') };
    const put = (cert: string | Buffer, key: string | Buffer): void => {
      writeFileSync(files.cert, cert);
      writeFileSync(files.key, key);
    };
    put(one?.cert ?? '', one?.key ?? '');
    const port = await freePort();
    const program = start([
      ...([
        BURROW,
        'controller',
        'serve',
        '--listen',
        `127.0.0.1:${port}`,
        '--state-dir',
        join(site.directory, 's'),
      ] as const),
      ...['--socket', join(site.directory, 's.sock'), '--cert', files.cert, '--key', files.key],
    ]);
    await until('it listens', () => program.stderr().includes('Listening for gateways'));
    const shown = async (): Promise<string | undefined> => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
      socket.destroy();
      return fingerprint;
    };
    const first = await shown();
    put(two?.cert ?? '', one?.key ?? '');
    program.child.kill('SIGHUP');
    await until('it is told', () => program.stderr().includes('cannot be used together'));
    expect(await shown()).toBe(first);
    put(two?.cert ?? '', two?.key ?? '');
    program.child.kill('SIGHUP');
    await until('it is read', () => program.stderr().includes('Certificate read again'));
    expect(await shown()).not.toBe(first);
  });
});
