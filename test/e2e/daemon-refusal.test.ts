import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BURROW, burrow, canRun, startDaemon, temporaryDirectory, until } from './daemon.ts';

const LINK = ['--controller', 'tls://127.0.0.1:1', '--gateway-id', 'a'];

describe('burrow daemon --journal-file', () => {
  it.each<[string, (path: string) => void, string]>([
    ['a directory', (path) => mkdirSync(path), 'is a directory'],
    ['a FIFO', (path) => execFileSync('mkfifo', [path]), 'is a FIFO'],
    ['a file of somebody else', (path) => writeFileSync(path, 'dear diary\n'), 'holds something else'],
  ])('ends with status 78 for %s, which stays as it is', (_, put, reason) => {
    const directory = temporaryDirectory();
    const path = join(directory, 'diary');
    put(path);

    const ended = burrow(['daemon', '--journal-file', path]);

    expect(ended).toMatchObject({ status: 78, stdout: '' });
    expect(ended.stderr).toMatch(/^burrow: Journal file "[^\n]+\n$/);
    expect(ended.stderr).toContain(`"${path}" ${reason}`);
    expect(readdirSync(directory)).toEqual(['diary']);
  });

  it('ends with status 78 when a name beside it is taken', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'Cargo.lock'), 'version = 4\n');

    const ended = burrow(['daemon', '--journal-file', join(directory, 'Cargo')]);

    expect(ended).toMatchObject({ status: 78, stdout: '' });
    expect(ended.stderr).toContain('Cargo.lock');
    expect(readFileSync(join(directory, 'Cargo.lock'), 'utf8')).toBe('version = 4\n');
    expect(readdirSync(directory)).toEqual(['Cargo.lock']);
  });
});

describe('burrow daemon --journal-file beside --state-dir', () => {
  it('ends with status 78 for the operations.json of a directory that a daemon has', async () => {
    const directory = temporaryDirectory();
    const owner = startDaemon({ args: ['--state-dir', directory] });
    await owner.exec({ command: 'true', operationId: 'kept' });
    const file = join(directory, 'operations.json');

    const ended = burrow(['daemon', '--journal-file', file]);

    expect(ended).toMatchObject({ status: 78, stdout: '' });
    expect(ended.stderr).toMatch(/^burrow: Journal file "[^\n]+: use --state-dir "[^\n]+"\n$/);
    expect(readdirSync(directory).sort()).toEqual(['operations.lock', 'operations.log']);
  });
});

describe('burrow daemon --state-dir', () => {
  it('ends with status 78 for what is not a directory', () => {
    const path = join(temporaryDirectory(), 'state');
    writeFileSync(path, 'mine');

    const ended = burrow(['daemon', '--state-dir', path]);

    expect(ended).toMatchObject({ status: 78, stdout: '' });
    expect(ended.stderr).toMatch(
      /^burrow: Cannot use state directory "[^\n]+ not a directory[^\n]+\(ENOTDIR\)\n$/,
    );
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it.skipIf(!canRun('setpriv', '--reuid=65534', 'true')).each(['.', 'below'])(
    'ends with status 78 in a directory that the user may not enter: %s',
    async (name) => {
      const directory = temporaryDirectory();
      chmodSync(directory, 0o700);
      const user = ['--reuid=65534', '--regid=65534', '--clear-groups'];
      const command = ['setpriv', ...user, BURROW, 'daemon'] as const;

      const daemon = startDaemon({ command, args: ['--state-dir', join(directory, name)], cwd: '/' });

      expect(await daemon.ended).toEqual({ code: 78, signal: null });
      await until('the line is there', () => daemon.stderr().endsWith('\n'));
      expect(daemon.stderr()).toMatch(
        /^burrow: Cannot use state directory "[^\n]+ denied[^\n]+\(EACCES\)\n$/,
      );
      expect(readdirSync(directory)).toEqual([]);
    },
  );
});

describe('burrow daemon with a setting that says nothing', () => {
  it.each<[string[], string]>([
    [['--state-dir', ''], '--state-dir'],
    [['--state-dir='], '--state-dir'],
    [['--journal-file', ''], '--journal-file'],
    [['--socket', ''], '--socket'],
    [['--controller', '', '--gateway-id', 'a'], '--controller'],
    [['--controller', 'tls://c.example', '--gateway-id', ''], '--gateway-id'],
    [[...LINK, '--controller-server-name', ''], '--controller-server-name'],
    [[...LINK, '--ca', ''], '--ca'],
    [[...LINK, '--cert', ''], '--cert'],
    [[...LINK, '--key', ''], '--key'],
  ])('is bad usage: %j', (args, flag) => {
    const ended = burrow(['daemon', ...args], { env: { BURROW_GATEWAY_STATE_DIR: temporaryDirectory() } });

    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toContain(`Flag "${flag}" needs a value, not an empty one`);
  });

  it.each<string[]>([
    ['exec', '--socket', '', '--', 'true'],
    ['exec', '--cwd=', '--', 'true'],
    ['exec', '--operation-id', '', '--', 'true'],
    ['fs', 'list', '--controller', '', '--target', 'a', '.'],
    ['client', 'hello', '--socket='],
    ['controller', 'gateways', '--socket', ''],
    ['controller', 'serve', '--listen', '', '--state-dir', 's', '--socket', 's.sock'],
    ['controller', 'serve', '--listen', '127.0.0.1:0', '--state-dir', '', '--socket', 's.sock'],
    ['host', 'configure', '--root', ''],
    ['node', 'new', 'sh', '--dir', ''],
  ])('is bad usage in other commands as well: %j', (...args) => {
    const ended = burrow(args, { cwd: temporaryDirectory() });

    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^burrow: Flag "--[a-z-]+" needs a value, not an empty one\n/);
  });

  it('takes an empty variable as one that is not set', async () => {
    const names = [
      'STATE_DIR',
      'CONTROLLER_URL',
      'ID',
      'CA_FILE',
      'CERT_FILE',
      'KEY_FILE',
      'ENROLLMENT_TOKEN',
    ];
    const daemon = startDaemon({
      env: Object.fromEntries(names.map((name) => [`BURROW_GATEWAY_${name}`, ''])),
    });

    expect((await daemon.ask('hello')).result.transport).toBe('stdio-jsonl');
    expect((await daemon.ask('health')).result.journal.mode).toBe('memory');
  });
});

describe('burrow daemon without a controller', () => {
  it.each([
    ['--gateway-id', 'a'],
    ['--controller-server-name', 'c.example'],
    ['--ca', '/nowhere.pem'],
    ['--cert', '/nowhere.pem'],
    ['--key', '/nowhere.pem'],
  ])('refuses %s, which only a controller gives a meaning', (flag, value) => {
    for (const more of [[], ['--socket', join(temporaryDirectory(), 'burrow.sock')]]) {
      const ended = burrow(['daemon', flag, value, ...more]);

      expect(ended).toMatchObject({ status: 78, stdout: '' });
      expect(ended.stderr).toBe(
        `burrow: Controller is missing, and "${flag}" is of use with one only: give --controller or set BURROW_GATEWAY_CONTROLLER_URL\n`,
      );
    }
  });

  it('waits for one with the variables of the rest set, as a service does', async () => {
    const env = { BURROW_GATEWAY_ID: 'a', BURROW_GATEWAY_CA_FILE: '/nowhere.pem' };
    const daemon = startDaemon({ env });

    expect((await daemon.ask('hello')).ok).toBe(true);
  });
});
