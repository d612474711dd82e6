import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../src/commands/cli.ts';
import type { Finding } from '../../src/commands/host-finding.ts';
import { systemClock } from '../../src/support/clock.ts';

const EXAMPLE = readFileSync('packaging/gateway.env', 'utf8');

interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

async function run(args: string[], stdin = ''): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const collector = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    });
  const status = await runCli(args, {
    env: {},
    cwd: '/',
    stdin: Readable.from([Buffer.from(stdin)]) as never,
    stdout: collector('stdout'),
    stderr: collector('stderr'),
    clock: systemClock,
    abandonStdout() {},
    onSignal: () => () => {},
  });
  return { status, ...written };
}

/** A system that does not run, as the package leaves it. */
function stage(): { root: string; envFile: string; stateDir: string } {
  const root = mkdtempSync(join(tmpdir(), 'burrow-host-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const envFile = join(root, 'etc/burrow-host-gateway/gateway.env');
  const stateDir = join(root, 'var/lib/burrow-host-gateway');
  mkdirSync(join(root, 'etc/burrow-host-gateway'), { recursive: true });
  mkdirSync(join(root, 'lib/systemd/system'), { recursive: true });
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(envFile, EXAMPLE, { mode: 0o640 });
  writeFileSync(join(root, 'lib/systemd/system/burrow-host-gateway.service'), '');
  return { root, envFile, stateDir };
}

const CONTROLLER = ['--controller', 'tls://c.example:7443', '--gateway-id', 'host-1'];

describe('burrow host configure', () => {
  it('refuses a root that does not exist, and makes none', async () => {
    const { root } = stage();
    const typo = join(root, 'typo');

    const ran = await run(['host', 'configure', '--root', typo, ...CONTROLLER]);

    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toContain(`Root "${typo}" is not a directory that exists`);
    expect(existsSync(typo)).toBe(false);
  });

  it('says an error of the system in a sentence', async () => {
    const { root, envFile } = stage();
    rmSync(envFile);
    mkdirSync(envFile);

    expect(await run(['host', 'configure', '--root', root, ...CONTROLLER])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'burrow: Cannot read: illegal operation on a directory (EISDIR)\n',
    });
  });

  it('puts settings in the place of their examples and keeps everything else', async () => {
    const { root, envFile } = stage();

    const { status } = await run(['host', 'configure', '--root', root, ...CONTROLLER]);

    expect(status).toBe(0);
    const wanted = EXAMPLE.replace(
      /^#BURROW_GATEWAY_CONTROLLER_URL=.*$/m,
      'BURROW_GATEWAY_CONTROLLER_URL=tls://c.example:7443',
    ).replace(/^#BURROW_GATEWAY_ID=.*$/m, 'BURROW_GATEWAY_ID=host-1');
    expect(readFileSync(envFile, 'utf8')).toBe(wanted);
    expect(statSync(envFile).mode & 0o777).toBe(0o640);
  });

  it('keeps a server name of its own for the controller, and takes it out again', async () => {
    const { root, envFile } = stage();
    const named = (name: string): string[] => [...CONTROLLER, '--controller-server-name', name];
    await run(['host', 'configure', '--root', root, ...named('real.example')]);
    const line = 'BURROW_GATEWAY_CONTROLLER_SERVER_NAME=real.example\n';
    expect(readFileSync(envFile, 'utf8')).toContain(`\n${line}`);
    await run(['host', 'configure', '--root', root, ...named('')]);
    expect(readFileSync(envFile, 'utf8')).not.toContain(`\n${line}`);
  });

  it('reads a token from standard input and never prints it', async () => {
    const { root, envFile } = stage();

    const ran = await run(['host', 'configure', '--root', root, '--token-file', '-'], 'a\\b $c\n');

    expect(ran.status).toBe(0);
    expect(readFileSync(envFile, 'utf8')).toContain("BURROW_GATEWAY_ENROLLMENT_TOKEN='a\\b $c'\n");
    expect(ran.stdout + ran.stderr).not.toContain('a\\b');
  });

  it.each([
    ['a URL that is not tls', ['--controller', 'https://x', '--gateway-id', 'h']],
    ['a controller without an id', ['--controller', 'tls://x']],
    ['a server name that is an address', [...CONTROLLER, '--controller-server-name', '10.0.0.1']],
    ['nothing at all', []],
    ['a name that is none', ['--set', '1A=b']],
    ['a line break', ['--set', 'A=b\nc']],
    ['a user that is none', ['--run-as', 'ro ot']],
  ])('refuses %s and writes nothing', async (_what, args) => {
    const { root, envFile } = stage();

    const { status } = await run(['host', 'configure', '--root', root, ...args]);

    expect(status).toBe(2);
    expect(readFileSync(envFile, 'utf8')).toBe(EXAMPLE);
  });

  it('writes and removes the drop-in of another user', async () => {
    const { root } = stage();
    const file = join(root, 'etc/systemd/system/burrow-host-gateway.service.d/run-as.conf');

    await run(['host', 'configure', '--root', root, '--run-as', 'root']);
    expect(readFileSync(file, 'utf8')).toContain('[Service]\nUser=root\n');
    await run(['host', 'configure', '--root', root, '--run-as', 'burrow']);

    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe('burrow host pairing-code', () => {
  it('prints the code that waits, and fails when none does', async () => {
    const { root, stateDir } = stage();
    expect((await run(['host', 'pairing-code', '--root', root])).status).toBe(1);
    const code = { gatewayId: 'h', pairingCode: 'AAAA-BBBB-CCCC', updatedAt: '2026-01-01T00:00:00.000Z' };
    writeFileSync(join(stateDir, 'pairing-code.json'), JSON.stringify(code), { mode: 0o600 });

    const ran = await run(['host', 'pairing-code', '--root', root]);

    expect(ran).toMatchObject({ status: 0, stdout: 'AAAA-BBBB-CCCC\n' });
  });
});

describe('burrow host unpair', () => {
  it('forgets trust, pins and token and keeps the identity', async () => {
    const { root, stateDir, envFile } = stage();
    await run(['host', 'configure', '--root', root, '--token-file', '-'], 'token');
    const keys = { version: 1, nodeId: 'n', publicKey: 'p', privateKey: 'k', more: 'kept' };
    const identity = { ...keys, controllerPublicKey: 'c', controllerTlsFingerprint: 'f' };
    writeFileSync(join(stateDir, 'node-identity.json'), JSON.stringify(identity), { mode: 0o600 });
    writeFileSync(join(stateDir, 'controller-trust.json'), '{}', { mode: 0o600 });
    writeFileSync(join(stateDir, 'controller-enrollment-consumed'), 'x', { mode: 0o600 });

    const { status } = await run(['host', 'unpair', '--root', root]);

    expect(status).toBe(0);
    expect(JSON.parse(readFileSync(join(stateDir, 'node-identity.json'), 'utf8'))).toEqual(keys);
    expect(statSync(join(stateDir, 'controller-trust.json'), { throwIfNoEntry: false })).toBeUndefined();
    expect(
      statSync(join(stateDir, 'controller-enrollment-consumed'), { throwIfNoEntry: false }),
    ).toBeUndefined();
    expect(readFileSync(envFile, 'utf8')).not.toContain('token\n');
  });
});

describe('burrow host doctor', () => {
  async function examine(root: string): Promise<{ status: number; findings: Finding[] }> {
    const ran = await run(['host', 'doctor', '--root', root, '--json']);
    return { status: ran.status, findings: JSON.parse(ran.stdout).findings };
  }

  it('finds no fault with what the package and configure leave', async () => {
    const { root } = stage();
    await run(['host', 'configure', '--root', root, ...CONTROLLER]);

    const { status, findings } = await examine(root);

    expect(findings.filter((finding) => finding.status === 'failed')).toEqual([]);
    expect(status).toBe(0);
  });

  const FAULTS: [string, string, (place: ReturnType<typeof stage>) => void][] = [
    ['an env file for everyone', 'modes', ({ envFile }) => chmodSync(envFile, 0o644)],
    ['a state directory for everyone', 'modes', ({ stateDir }) => chmodSync(stateDir, 0o755)],
    [
      'a state file for everyone',
      'modes',
      ({ stateDir }) => writeFileSync(join(stateDir, 'node-identity.json'), '{}', { mode: 0o644 }),
    ],
    [
      'a line that would change',
      'configuration',
      ({ envFile }) => writeFileSync(envFile, 'A=a\\b\n', { mode: 0o640 }),
    ],
    [
      'a controller without an id',
      'configuration',
      ({ envFile }) => writeFileSync(envFile, 'BURROW_GATEWAY_CONTROLLER_URL=tls://x\n'),
    ],
    [
      'a CA file that is missing',
      'certificates',
      ({ envFile }) =>
        writeFileSync(
          envFile,
          'BURROW_GATEWAY_CONTROLLER_URL=tls://x\nBURROW_GATEWAY_ID=h\nBURROW_GATEWAY_CA_FILE=/no/ca.pem\n',
        ),
    ],
    [
      'a package that is not there',
      'unit',
      ({ root }) => rmSync(join(root, 'lib/systemd/system/burrow-host-gateway.service')),
    ],
  ];
  it.each(FAULTS)('names %s and what to do', async (_what, check, damage) => {
    const place = stage();
    damage(place);

    const { status, findings } = await examine(place.root);

    const faults = findings.filter((finding) => finding.status === 'failed');
    expect(faults.map((finding) => finding.check)).toContain(check);
    expect(faults.every((finding) => (finding.next ?? '') !== '')).toBe(true);
    expect(status).toBe(1);
  });
});
