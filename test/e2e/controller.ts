// Real controllers and daemons of `dist/burrow`, each a process of its own, for one test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { BURROW, burrow, temporaryDirectory, until } from './daemon.ts';

const STOP_PATIENCE_MS = 4_000;

export interface Program {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  ended: Promise<number | null>;
  /** SIGTERM, or what is given; resolves when it is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** It is ended with the test. */
export function start(
  [file, ...args]: readonly [string, ...string[]],
  options: { cwd?: string; env?: Record<string, string | undefined> } = {},
): Program {
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: { ...process.env, BURROW_GATEWAY_STATE_DIR: undefined, ...options.env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(() => child.exitCode);
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    const patience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
    await ended;
    clearTimeout(patience);
  };
  onTestFinished(() => end());
  return { child, stdout: () => stdout, stderr: () => stderr, ended, end };
}

export interface Site {
  directory: string;
  port: number;
  socket: string;
  controller: Program;
  /** `burrow controller VERB ARGS`. */
  verb(...args: string[]): ReturnType<typeof burrow>;
  exec(target: string, args: readonly string[], env?: Record<string, string>): ReturnType<typeof burrow>;
  /** Ends the controller and starts it again on the same port. */
  restart(signal?: NodeJS.Signals, stateDirectory?: string): Promise<void>;
  daemon(
    gatewayId: string,
    options?: { args?: string[]; env?: Record<string, string>; state?: string; port?: number },
  ): Program;
  /** A daemon that is paired and connected. */
  paired(gatewayId: string): Promise<Program>;
}

export async function startSite(): Promise<Site> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const socket = join(directory, 'op.sock');
  const serve = async (stateDirectory: string): Promise<Program> => {
    const program = start([
      ...([BURROW, 'controller', 'serve', '--listen', `127.0.0.1:${port}`, '--socket', socket] as const),
      ...['--state-dir', join(directory, stateDirectory), '--json'],
    ]);
    await until(
      'the controller listens',
      () => program.stdout().includes('\n') || program.child.exitCode !== null,
    );
    return program;
  };
  const site: Site = {
    directory,
    port,
    socket,
    controller: await serve('ctl'),
    verb: (...args) => burrow(['controller', ...args, '--socket', socket]),
    exec: (target, args, env) =>
      burrow(['exec', '--controller', socket, '--target', target, ...args], env === undefined ? {} : { env }),
    async restart(signal, stateDirectory = 'ctl') {
      await site.controller.end(signal);
      site.controller = await serve(stateDirectory);
    },
    daemon: (gatewayId, { args = [], env = {}, state = gatewayId, port: dialled = port } = {}) =>
      start(
        [
          ...([
            BURROW,
            'daemon',
            '--controller',
            `tls://127.0.0.1:${dialled}`,
            '--gateway-id',
            gatewayId,
          ] as const),
          ...['--state-dir', join(directory, state), ...args],
        ],
        { env },
      ),
    async paired(gatewayId) {
      const daemon = site.daemon(gatewayId);
      await until('it waits for approval', () => site.verb('pairings').stdout.includes(`${gatewayId} `));
      site.verb('approve', gatewayId);
      await until('it is connected', () => daemon.stderr().includes('Connected to controller'));
      return daemon;
    },
  };
  return site;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
