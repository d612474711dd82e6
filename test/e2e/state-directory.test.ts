import { describe, expect, it } from 'vitest';
import { freePort } from './controller.ts';
import { burrow, startDaemon, temporaryDirectory } from './daemon.ts';

/** The kernel makes no directories there and says that the path does not exist. */
const NOWHERE = '/proc/x/state';

describe.runIf(process.platform === 'linux')('a directory where none can be made', () => {
  const network = ['--controller', 'tls://127.0.0.1:1', '--gateway-id', 'web-1'];

  it.each<[string, () => Promise<string[]>]>([
    ['daemon', async () => ['daemon', ...network, '--state-dir', NOWHERE]],
    [
      'controller',
      async () => [
        ...['controller', 'serve', '--listen', `127.0.0.1:${await freePort()}`, '--state-dir', NOWHERE],
        ...['--socket', `${temporaryDirectory()}/op.sock`],
      ],
    ],
  ])('ends a %s with one line and status 78', async (_name, args) => {
    const ended = burrow(await args());
    expect(ended).toMatchObject({ status: 78, stdout: '' });
    expect(ended.stderr).toMatch(/^burrow: Cannot use state directory "\/proc\/x\/state": .+\n$/);
  });

  it('leaves a daemon on standard input that answers and says that it keeps nothing', async () => {
    const daemon = startDaemon({ args: ['--state-dir', NOWHERE] });
    const { result } = await daemon.exec({ command: 'echo ran', operationId: 'op-1' });
    expect(result).toMatchObject({ journaled: false, outcome: { stdout: 'ran\n' } });
    expect((await daemon.ask('health')).result.journal).toMatchObject({ state: 'degraded' });
    daemon.end();
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  });

  it('fails a write that needs it, and the next one works', async () => {
    const daemon = startDaemon();
    const file = `${temporaryDirectory()}/made/file`;
    const write = (filePath: string): ReturnType<typeof daemon.ask> =>
      daemon.ask('filesystem.execute', { tool: 'files_write', arguments: { filePath, content: 'x' } });
    expect((await write('/proc/x/y')).result.outcome).toMatchObject({ ok: false, error: 'ENOENT' });
    expect((await write(file)).result.outcome).toMatchObject({ ok: true });
    daemon.end();
    await daemon.ended;
  });

  it('fails the scaffold of a node', () => {
    const ended = burrow(['node', 'new', 'sh', '--dir', NOWHERE]);
    expect(ended.status).toBe(1);
    expect(ended.stderr).toMatch(/^burrow: Cannot make "\/proc\/x\/state": .+\n$/);
  });
});
