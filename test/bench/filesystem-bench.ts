// The filesystem figures through the built daemon: `filesystem.execute` over its stdin and stdout.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryMiB, startDaemon } from './daemon.ts';
import type { Bench } from './figure.ts';
import { type FilesystemSubject, measureFilesystem } from './filesystem-figures.ts';

export const filesystem: Bench = {
  name: 'filesystem',
  async run() {
    const base = mkdtempSync(join(tmpdir(), 'burrow-bench-'));
    const daemon = await startDaemon();
    let calls = 0;
    const subject: FilesystemSubject = {
      async call(tool, toolArguments) {
        calls += 1;
        const params = { operationId: `filesystem-${calls}`, tool, arguments: toolArguments };
        const answer = await daemon.client.execute('filesystem.execute', params);
        if (answer.status !== 'ok') throw new Error(`${tool} was not answered: ${JSON.stringify(answer)}`);
        return answer.result.outcome as Record<string, unknown>;
      },
      async hello() {
        const answer = await daemon.client.call('hello');
        if (answer.status !== 'ok') throw new Error(`hello was not answered: ${JSON.stringify(answer)}`);
      },
      residentMiB: () => memoryMiB(daemon.pid, 'VmRSS'),
    };
    try {
      return await measureFilesystem(subject, base);
    } finally {
      await daemon.stop();
      rmSync(base, { recursive: true, force: true });
    }
  },
};
