import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';

const BINARY = new URL('../../dist/burrow', import.meta.url).pathname;

/** Starts `args` as process 1 of a process namespace of its own. */
function asPidOne(args: string[]): ReturnType<typeof spawn> {
  return spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', BINARY, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

describe('burrow as process 1', () => {
  it('leaves no zombies and keeps the exit codes of its operations', async () => {
    const daemon = asPidOne(['daemon']);
    const closed = new Promise<number | null>((resolve) => daemon.once('close', resolve));
    const lines = createInterface({ input: daemon.stdout! })[Symbol.asyncIterator]();
    const run = async (id: string, command: string): Promise<{ exitCode: number; stdout: string }> => {
      daemon.stdin!.write(
        `${JSON.stringify({ id, method: 'process.exec', params: { operationId: id, command } })}\n`,
      );
      for (;;) {
        const reply = JSON.parse((await lines.next()).value ?? '');
        if (reply.type === 'response') return reply.result.outcome;
      }
    };

    for (let index = 0; index < 40; index += 1) {
      expect((await run(`orphan-${index}`, '(sleep 0.05 &) ; exit 7')).exitCode).toBe(7);
    }
    const count = 'grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null | wc -l';
    await expect
      .poll(async () => (await run(`count-${performance.now()}`, count)).stdout.trim(), { timeout: 5_000 })
      .toBe('0');

    daemon.stdin!.end();
    expect(await closed).toBe(0);
  });

  it('ends with the exit status of its command', async () => {
    const exec = asPidOne(['exec', '-c', 'exit 9']);
    expect(await new Promise((resolve) => exec.once('close', resolve))).toBe(9);
  });
});
