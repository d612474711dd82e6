import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BURROW, burrow, canRun, startDaemon, temporaryDirectory } from './daemon.ts';

const HELLO = '{"id":1,"method":"hello"}\n{"id":2,"method":"process.exec","params":{"command":"echo ran"}}\n';

const CAN_MOUNT = canRun('unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/mnt');
const CAN_TRACE = canRun('strace', '-qq', '-o', '/dev/null', 'true');

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** In a mount namespace of its own; `$1` is the binary, `$2` an empty directory. */
function isolated(
  script: string,
  env: Record<string, string> = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
): Ran {
  const directory = temporaryDirectory();
  return spawnSync('unshare', ['-m', '/bin/sh', '-ec', script, 'sh', BURROW, directory], {
    encoding: 'utf8',
    env,
    input: HELLO,
    timeout: 10_000,
  });
}

function expectServed({ status, stdout, stderr }: Ran): void {
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const envelopes = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(envelopes[0].result.name).toBe('burrow-host-gateway');
  expect(envelopes.at(-1).result.outcome).toMatchObject({ stdout: 'ran\n', exitCode: 0 });
}

describe('the binary', () => {
  it('runs with an empty environment', () => {
    expectServed(
      spawnSync(BURROW, ['daemon'], { encoding: 'utf8', env: {}, input: HELLO, timeout: 10_000, cwd: '/' }),
    );
  });

  it.skipIf(!CAN_MOUNT)('runs from a read-only directory with nowhere to write', () => {
    expectServed(
      isolated(`
        cp "$1" "$2/burrow"
        mount --bind "$2" /mnt
        mount -o remount,bind,ro /mnt
        # The tests may themselves run below /tmp, which goes out of sight.
        cd /
        mount -t tmpfs -o noexec,size=0,nr_inodes=1 none /tmp
        exec /mnt/burrow daemon`),
    );
  });

  it.skipIf(!CAN_MOUNT)('runs with /tmp full of nothing and not executable, and leaves it empty', () => {
    const ran = isolated(`
      cp "$1" "$2/burrow"
      mkdir "$2/tmp"
      mount -t tmpfs -o noexec none "$2/tmp"
      export TMPDIR="$2/tmp"
      "$2/burrow" daemon
      ls -A "$2/tmp" >&2`);

    expectServed(ran);
  });

  it.skipIf(!CAN_MOUNT || !canRun('ldd', '/bin/sh'))(
    'runs in a root that holds a C library, a shell and nothing else',
    () => {
      const libraries = spawnSync('ldd', [BURROW, '/bin/sh'], { encoding: 'utf8' }).stdout;
      const files = new Set([
        '/bin/sh',
        ...[...libraries.matchAll(/(\/\S+\.so\S*)/g)].map(([, path]) => path ?? ''),
      ]);
      const root = temporaryDirectory();
      for (const file of files) {
        mkdirSync(join(root, file, '..'), { recursive: true });
        copyFileSync(file, join(root, file));
      }
      copyFileSync(BURROW, join(root, 'burrow'));
      mkdirSync(join(root, 'dev'));
      const ran = spawnSync(
        'unshare',
        [
          '-m',
          '/bin/sh',
          '-ec',
          'touch "$1/dev/null"; mount --bind /dev/null "$1/dev/null"; exec chroot "$1" /burrow daemon',
          'sh',
          root,
        ],
        { encoding: 'utf8', env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' }, input: HELLO, timeout: 10_000 },
      );

      expectServed(ran);
    },
  );

  it.each([
    ['NODE_OPTIONS', '--require /no/such/file.js'],
    ['NODE_OPTIONS', '--inspect-brk'],
    ['NODE_OPTIONS', '--no-such-flag'],
    ['NODE_EXTRA_CA_CERTS', '/no/such/file.pem'],
    ['NODE_PATH', '/no/such/directory'],
    // Node.js makes these two directories.
    ['NODE_V8_COVERAGE', 'coverage'],
    ['NODE_COMPILE_CACHE', 'cache'],
    ['NODE_PENDING_DEPRECATION', '1'],
    ['NODE_CHANNEL_FD', '3'],
    ['PKG_EXECPATH', 'PKG_INVOKE_NODEJS'],
    ['PKG_DUMMY_ENTRYPOINT', '/x'],
  ])('is not moved by %s=%s', (name, value) => {
    const ran = spawnSync(BURROW, ['daemon'], {
      cwd: temporaryDirectory(),
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', [name]: value },
      input: HELLO,
      timeout: 10_000,
    });

    expectServed(ran);
  });

  it('takes arguments that Node.js or its packager would take for themselves', () => {
    for (const flag of ['--eval', '--inspect', '--require', '--v8-options', '--pkg-fallback', '--test'])
      expect(burrow(['exec', flag, 'x', '--', 'true'])).toMatchObject({ status: 2, stdout: '' });
    expect(burrow(['exec', '--', 'echo', '--eval', '-p', '1']).stdout).toBe('--eval -p 1\n');
  });

  it.skipIf(!CAN_TRACE)('creates no file, only what its state directory holds', () => {
    const directory = temporaryDirectory();
    const trace = join(directory, 'trace');
    const state = join(directory, 'state');
    const args = ['-f', '-qq', '-e', 'trace=open,openat,openat2,creat,mkdir,mkdirat', '-o', trace];
    const ran = spawnSync('strace', [...args, BURROW, 'daemon', '--state-dir', state], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', HOME: join(directory, 'home') },
      input: HELLO,
      timeout: 20_000,
    });
    expectServed(ran);
    const created = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => /O_CREAT|creat\(|mkdir/.test(line) && !line.includes(state));

    expect(created).toEqual([]);
  });

  it.skipIf(!CAN_TRACE)(
    'loads no file but its own libraries and those of the system on the way to hello',
    () => {
      const trace = join(temporaryDirectory(), 'trace');
      spawnSync('strace', ['-f', '-qq', '-e', 'trace=open,openat', '-o', trace, BURROW, 'daemon'], {
        input: '{"id":1,"method":"hello"}\n',
        env: {},
        timeout: 20_000,
      });
      const opened = readFileSync(trace, 'utf8').matchAll(/open(?:at)?\([^"]*"([^"]+)".*= \d+$/gm);
      const strange = [...opened]
        .map(([, path]) => path ?? '')
        .filter((path) => path !== BURROW && !/^\/(proc|sys|dev|etc|lib|lib64|usr\/lib)\//.test(path));

      expect(strange).toEqual([]);
    },
  );

  it('shows no word of its packager to a person', async () => {
    const daemon = startDaemon();
    const { result } = await daemon.exec({ executable: 'env' });

    expect(result.outcome.stdout).not.toMatch(/^PKG_/m);
    expect(daemon.stderr()).toBe('');
  });

  it('opens no debugger on SIGUSR1', async () => {
    const daemon = startDaemon();
    await daemon.ask('hello');
    daemon.child.kill('SIGUSR1');
    const { result } = await daemon.exec({ command: 'kill -USR1 $PPID; sleep .2; echo on' });

    expect(result.outcome.stdout).toBe('on\n');
    expect(daemon.stderr()).toBe('');
  });

  it('goes on when it is replaced while it runs', async () => {
    const directory = temporaryDirectory();
    const binary = join(directory, 'burrow');
    copyFileSync(BURROW, binary);
    const daemon = startDaemon({ command: [binary, 'daemon', '--state-dir', join(directory, 'state')] });
    await daemon.ask('hello');
    writeFileSync(join(directory, 'new'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    spawnSync('mv', [join(directory, 'new'), binary]);

    expect((await daemon.exec({ command: 'echo on' })).result.outcome.stdout).toBe('on\n');
    expect(
      await daemon.ask('filesystem.execute', { tool: 'files_inspect', arguments: { path: '/' } }),
    ).toMatchObject({
      ok: true,
    });
    daemon.end();
    expect((await daemon.ended).code).toBe(0);
  });
});
