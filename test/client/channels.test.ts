import { describe, expect, it } from 'vitest';
import { childProcess } from '../../src/client/child-process.ts';
import { createGatewayClient } from '../../src/client/client.ts';
import { inProcess } from '../../src/client/in-process.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { openJournal } from '../../src/gateway/journal/journal.ts';
import { launchWithNode } from '../../src/process/launcher.ts';
import { createProcessDeps, runProcess } from '../../src/process/process.ts';
import { systemClock } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { noTelemetry } from '../telemetry/no-telemetry.ts';

async function privateGateway() {
  const deps = createProcessDeps(systemClock);
  const journal = await openJournal({ location: { kind: 'memory' } }, { clock: systemClock, log: silentLog });
  return createGateway(
    {
      clock: systemClock,
      log: silentLog,
      version: '0',
      journal,
      telemetry: noTelemetry,
      gatewayId: 'here',
      cwd: () => '/',
      childEnvironment: () => ({ PATH: '/usr/bin:/bin' }),
      startProcess: (request, events) => runProcess(request, events, deps),
      runFilesystemTool: () => Promise.reject(new Error('No tool runs here')),
    },
    { maxActiveOperations: 9, onShutdownRequest: () => {} },
  );
}

describe('inProcess()', () => {
  it('answers what still runs before it is closed', async () => {
    const client = createGatewayClient(inProcess(await privateGateway()));
    const running = client.execute('process.exec', { command: 'sleep .1; echo done' });
    await Promise.all([client.close(), client.close()]);

    expect(await running).toMatchObject({ status: 'ok', result: { outcome: { stdout: 'done\n' } } });
    expect(await client.call('hello')).toEqual({ status: 'unreachable', reason: 'closed by the client' });
  });

  it('never answers within the call that asks', async () => {
    const frames: string[] = [];
    const channel = inProcess(await privateGateway())({
      onFrame: (frame) => frames.push(frame.toString()),
      onClosed: () => {},
    });
    channel.send('{"id":1,"method":"hello"}\n');
    expect(frames).toEqual([]);
    await channel.close();

    expect(frames).toHaveLength(1);
  });
});

function clientOf(command: [string, ...string[]], log: string[] = []) {
  return createGatewayClient(
    childProcess({
      command,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      launch: launchWithNode,
      onLog: (chunk) => log.push(chunk.toString()),
    }),
  );
}

const ECHO = `while read -r line; do
  printf '{"type":"response","requestId":"c1","ok":true,"result":{}}\\n'
done; echo bye >&2`;

describe('childProcess()', () => {
  it('speaks over stdin and stdout, passes its log on, and ends it with its input', async () => {
    const log: string[] = [];
    const client = clientOf(['/bin/sh', '-c', ECHO], log);

    expect(await client.call('hello')).toEqual({ status: 'ok', result: {} });
    await client.close();
    await client.close();
    expect(log).toEqual(['bye\n']);
  });

  it.each<[string, [string, ...string[]], string]>([
    ['exits', ['/bin/sh', '-c', 'exit 3'], 'gateway exited with status 3'],
    ['is killed', ['/bin/sh', '-c', 'kill -9 $$'], 'gateway was ended by SIGKILL'],
    ['cannot be started', ['/no/such/program'], 'cannot start "/no/such/program": ENOENT'],
  ])('fails calls when the gateway %s', async (_, command, reason) => {
    const client = clientOf(command);

    expect(await client.call('hello')).toEqual({ status: 'unreachable', reason });
    await client.close();
    expect(await client.call('hello')).toEqual({ status: 'unreachable', reason });
  });
});
