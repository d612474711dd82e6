import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  BURROW,
  canRun,
  type Daemon,
  type DaemonOptions,
  startDaemon,
  temporaryDirectory,
  until,
} from './daemon.ts';

const REQUEST = { operationId: 'kept', command: 'echo $$' };

async function finish(daemon: Daemon): Promise<void> {
  daemon.end();
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
}

/** The outcome that a daemon gave and left behind. */
async function leaveOutcome(options: DaemonOptions): Promise<object> {
  const daemon = startDaemon(options);
  const { result } = await daemon.exec(REQUEST);
  expect(result).toMatchObject({ replay: false });
  expect(result).not.toHaveProperty('journaled');
  await finish(daemon);
  return result.outcome;
}

function stateFiles(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('operations'));
}

describe('a journal on disk', () => {
  it.each<[string, (directory: string) => DaemonOptions]>([
    ['--state-dir', (directory) => ({ args: ['--state-dir', directory] })],
    ['--journal-file', (directory) => ({ args: ['--journal-file', join(directory, 'journal.json')] })],
    ['BURROW_GATEWAY_STATE_DIR', (directory) => ({ env: { BURROW_GATEWAY_STATE_DIR: directory } })],
    ['a relative --state-dir', (directory) => ({ args: ['--state-dir', 'state'], cwd: directory })],
  ])('replays after a restart with %s', async (_, optionsFor) => {
    const options = optionsFor(temporaryDirectory());
    const outcome = await leaveOutcome(options);
    const daemon = startDaemon(options);

    expect((await daemon.exec(REQUEST)).result).toEqual({ operationId: 'kept', replay: true, outcome });
    expect((await daemon.exec({ ...REQUEST, command: 'true' })).error.code).toBe('operation_id_conflict');
    await finish(daemon);
  });

  it('stays where a --journal-file that is a link leads to', async () => {
    const [directory, disk] = [temporaryDirectory(), temporaryDirectory()];
    const [link, real] = [join(directory, 'journal.json'), join(disk, 'real.json')];
    writeFileSync(real, '');
    symlinkSync(real, link);
    const outcome = await leaveOutcome({ args: ['--journal-file', link] });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(disk)).toEqual(['real.json']);
    const daemon = startDaemon({ args: ['--journal-file', real] });

    expect((await daemon.exec(REQUEST)).result).toEqual({ operationId: 'kept', replay: true, outcome });
    expect((await daemon.ask('health')).result.journal.warnings).toEqual([]);
  });

  it('answers a replay although its input ends right behind it', async () => {
    const args = ['--state-dir', temporaryDirectory()];
    const outcome = await leaveOutcome({ args });
    const daemon = startDaemon({ args });
    daemon.child.stdin?.end(`${JSON.stringify({ id: 1, method: 'process.exec', params: REQUEST })}\n`);

    expect((await daemon.answer(1)).result).toMatchObject({ replay: true, outcome });
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  });

  it.each(['000', '777'])(
    'is private with umask %s: 0700 for a directory of its own, 0600 for its files, also while it runs',
    async (umask) => {
      const directory = join(temporaryDirectory(), 'state');
      const daemon = startDaemon({
        args: ['--state-dir', directory],
        command: ['/bin/sh', '-c', `umask ${umask}; exec ${BURROW} daemon "$@"`, 'sh'],
      });
      await daemon.exec(REQUEST);
      const expectPrivate = (): void => {
        expect(statSync(directory).mode & 0o777).toBe(0o700);
        for (const name of readdirSync(directory))
          expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
      };

      expectPrivate();
      await finish(daemon);
      expectPrivate();
      expect(stateFiles(directory)).toEqual(['operations.json']);
    },
  );

  it('reads the file of an older installation, expired entries left out', async () => {
    const directory = temporaryDirectory();
    const other = temporaryDirectory();
    const outcome = await leaveOutcome({ args: ['--state-dir', other] });
    const { entries } = JSON.parse(readFileSync(join(other, 'operations.json'), 'utf8'));
    const { id, requestDigest } = entries[0];
    const entry = { id, requestDigest, result: outcome, expiresAt: Date.now() + 60_000 };
    const expired = { ...entry, id: 'expired', expiresAt: Date.now() - 1 };
    writeFileSync(join(directory, 'operations.json'), JSON.stringify({ entries: [expired, entry] }, null, 2));
    const daemon = startDaemon({ args: ['--state-dir', directory] });

    expect((await daemon.exec(REQUEST)).result).toMatchObject({ replay: true, outcome });
    expect((await daemon.exec({ ...REQUEST, operationId: 'expired' })).result.replay).toBe(false);
    expect((await daemon.ask('health')).result.status).toBe('ok');
  });

  it.each<[string, (file: string) => void]>([
    ['empty', (file) => writeFileSync(file, '')],
    ['all zero', (file) => writeFileSync(file, Buffer.alloc(4_096))],
    ['not JSON', (file) => writeFileSync(file, '{"entries":[{"id":')],
    ['cut in the middle', (file) => truncateSync(file, 100)],
    ['another kind of JSON', (file) => writeFileSync(file, '[1,2,3]')],
    ['a directory', (file) => mkdirSync(file)],
    ['a link to itself', (file) => symlinkSync(file, file)],
    ['deeply nested', (file) => writeFileSync(file, '['.repeat(200_000))],
  ])('sets an operations.json aside that is %s, and says so in health', async (kind, damage) => {
    const directory = temporaryDirectory();
    const file = join(directory, 'operations.json');
    if (kind === 'cut in the middle') await leaveOutcome({ args: ['--state-dir', directory] });
    damage(file);
    const daemon = startDaemon({ args: ['--state-dir', directory] });
    const { result } = await daemon.ask('health');

    expect(result).toMatchObject({ status: 'ok', journal: { state: 'ok', mode: 'disk' } });
    expect(result.journal.warnings).toHaveLength(1);
    expect(readdirSync(directory).filter((name) => name.startsWith('operations.json.damaged-'))).toHaveLength(
      1,
    );
    expect((await daemon.exec(REQUEST)).result).not.toHaveProperty('journaled');
    await finish(daemon);
    const next = startDaemon({ args: ['--state-dir', directory] });
    expect((await next.exec(REQUEST)).result.replay).toBe(true);
    expect((await next.ask('health')).result.status).toBe('ok');
  });

  it('replays after kill -9', async () => {
    const directory = temporaryDirectory();
    const daemon = startDaemon({ args: ['--state-dir', directory] });
    const { result } = await daemon.exec(REQUEST);
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    const next = startDaemon({ args: ['--state-dir', directory] });

    expect((await next.exec(REQUEST)).result).toEqual({ ...result, replay: true });
    expect((await next.ask('health')).result.status).toBe('ok');
    await finish(next);
    expect(stateFiles(directory)).toEqual(['operations.json']);
  });

  it('belongs to one daemon: a second one answers, degraded, and spoils nothing', async () => {
    const args = ['--state-dir', temporaryDirectory()];
    const first = startDaemon({ args });
    await first.exec(REQUEST);
    const second = startDaemon({ args });
    const { result } = await second.ask('health');

    expect(result).toMatchObject({ status: 'degraded', journal: { mode: 'memory', state: 'degraded' } });
    expect(result.journal.problem).toContain(`process ${first.pid}`);
    expect((await second.exec({ operationId: 'mine', command: 'true' })).result).toMatchObject({
      replay: false,
      journaled: false,
    });
    await finish(second);
    await finish(first);
    const third = startDaemon({ args });
    expect((await third.exec(REQUEST)).result.replay).toBe(true);
  });

  it.skipIf(!canRun('setpriv', '--reuid=65534', 'true'))(
    'that the user cannot write never fails an operation',
    async () => {
      const directory = temporaryDirectory();
      chmodSync(directory, 0o755);
      // The other user must get in: the directory of this run's temporary files may be closed to others, /tmp is not.
      const above = dirname(directory);
      if ((statSync(above).mode & 0o007) === 0) chmodSync(above, 0o711);
      const command = [
        'setpriv',
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        BURROW,
        'daemon',
      ] as const;
      const daemon = startDaemon({ command, args: ['--state-dir', directory], cwd: '/' });
      const { result } = await daemon.exec(REQUEST);

      expect(result).toMatchObject({ replay: false, journaled: false, outcome: { exitCode: 0 } });
      expect((await daemon.exec(REQUEST)).result).toMatchObject({ replay: true, outcome: result.outcome });
      expect((await daemon.ask('health')).result).toMatchObject({
        status: 'degraded',
        journal: { state: 'degraded', problem: expect.stringContaining('EACCES') },
      });
      await finish(daemon);
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it.skipIf(!canRun('unshare', '-m', 'true'))(
    'recovers when a full disk has room again, and leaves no temporary file',
    async () => {
      const directory = temporaryDirectory();
      const daemon = startDaemon({
        command: ['unshare', '-m', '/bin/sh', '-c', FULL_DISK, BURROW, directory],
      });
      await daemon.waitFor('the disk to be full', ({ requestId }) => requestId === 'full');
      const full = await daemon.exec(REQUEST);
      const degraded = await daemon.ask('health');

      expect(full.result).toMatchObject({ replay: false, journaled: false, outcome: { exitCode: 0 } });
      expect(degraded.result).toMatchObject({
        status: 'degraded',
        journal: { problem: expect.stringContaining('ENOSPC') },
      });
      await daemon.exec({ executable: 'rm', args: [`${directory}/ballast`] });
      await until('the journal is well', () => daemon.stderr().includes('on disk again'));
      expect((await daemon.ask('health')).result.status).toBe('ok');
      expect((await daemon.exec({ operationId: 'later', command: 'true' })).result).not.toHaveProperty(
        'journaled',
      );
      const { result } = await daemon.exec({ executable: 'ls', args: [directory] });
      expect(result.outcome.stdout).not.toContain('tmp');
      await finish(daemon);
    },
    30_000,
  );
});

/** The mount is seen by the daemon and its children alone and goes with them. */
const FULL_DISK = `
mount -t tmpfs -o size=64k none "$1" || exit 99
head -c 65536 /dev/zero > "$1/ballast"
printf '%s\\n' '{"type":"response","requestId":"full"}'
exec "$0" daemon --state-dir "$1"`;
