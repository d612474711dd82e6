import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startWorld, temporaryDirectory } from './world.ts';

describe('startController()', () => {
  it('refuses a state directory that another controller uses, names that one, and takes it when it closes', async () => {
    const stateDirectory = temporaryDirectory();
    const first = await startWorld({ stateDirectory });

    await expect(startWorld({ stateDirectory })).rejects.toThrow(
      `State directory "${stateDirectory}" is in use by the controller in process ${process.pid}`,
    );

    await first.call('controller.enroll', { gatewayId: 'web-1' });
    await first.controller.close();
    const next = await startWorld({ stateDirectory });
    expect(await next.call('controller.gateways')).toMatchObject({
      result: { gateways: [{ gatewayId: 'web-1' }] },
    });
    expect(next.controller.fingerprint).toBe(first.controller.fingerprint);
  });

  it('gives the directory back when it cannot listen', async () => {
    const stateDirectory = temporaryDirectory();
    const busy = await startWorld();

    await expect(startWorld({ stateDirectory, port: busy.controller.port })).rejects.toThrow('EADDRINUSE');

    expect(readdirSync(stateDirectory)).not.toContain('controller.lock');
    await startWorld({ stateDirectory });
  });
});
