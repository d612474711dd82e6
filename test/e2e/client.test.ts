import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { burrow, startDaemon, temporaryDirectory, until } from './daemon.ts';

describe('burrow client telemetry --socket', () => {
  it('changes and shows the telemetry of the daemon there', async () => {
    const socket = join(temporaryDirectory(), 'b.sock');
    const daemon = startDaemon({ args: ['--socket', socket] });
    await until('it listens', () => daemon.stderr().includes('Listening'));
    const telemetry = ['client', 'telemetry', '--json', '--socket', socket];
    expect(burrow([...telemetry, '--endpoint', 'http://127.0.0.1:9']).status).toBe(0);

    expect(JSON.parse(burrow(telemetry).stdout)).toMatchObject({
      enabled: true,
      endpoint: 'http://127.0.0.1:9/v1/traces',
    });
  });
});

describe('a socket that nobody serves', () => {
  const socket = '/nowhere/b.sock';

  it.each([
    ['the controller', ['controller', 'gateways', '--socket', socket]],
    ['the controller', ['exec', '--controller', socket, '--target', 'web-1', '--', 'true']],
    ['the controller', ['client', 'exec', '{"command":"true"}', '--controller', socket, '--target', 'web-1']],
    ['the daemon', ['exec', '--socket', socket, '--', 'true']],
    ['the daemon', ['client', 'exec', '{"command":"true"}', '--socket', socket]],
  ])('is said to lack %s: %j', (server, args) => {
    const ran = burrow(args);

    expect(ran.status).toBe(125);
    expect(ran.stderr).toBe(`burrow: No answer: no socket "${socket}": is ${server} running?\n`);
  });
});
