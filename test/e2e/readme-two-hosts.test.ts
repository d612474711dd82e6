import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort, start } from './controller.ts';
import { BURROW, temporaryDirectory, until } from './daemon.ts';

const text = readFileSync(new URL('../../docs/two-hosts.md', import.meta.url), 'utf8');
const section = text.slice(0, text.indexOf('\n## '));
const commands = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => (match[1] ?? '').trim());

describe('docs/two-hosts.md', () => {
  it('leads from nothing to a command on a second host, as it is written', async () => {
    expect(commands).toHaveLength(6);
    const [serve = '', daemon = '', pairings = '', approve = '', exec = '', read = ''] = commands;
    const port = await freePort();
    const cwd = temporaryDirectory();
    const run = (command: string): ReturnType<typeof start> => {
      const here = command.replace('controller.example', '127.0.0.1').replace('7443', String(port));
      // exec: the shell must not stay between us and what is to be ended.
      return start(['sh', '-c', `exec ${here}`], {
        cwd,
        env: { PATH: `${dirname(BURROW)}:${process.env['PATH']}` },
      });
    };
    const finished = async (command: string): Promise<string> => {
      const program = run(command);
      expect([await program.ended, program.stderr()]).toEqual([0, '']);
      return program.stdout();
    };

    const controller = run(serve);
    await until('the controller listens', () => controller.stderr().includes('Listening for gateways'));
    const gateway = run(daemon);
    const code = await until(
      'the daemon shows its code',
      () => /[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}/.exec(gateway.stderr())?.[0],
    );
    expect(await finished(pairings)).toBe(`web-1  ${code}\n`);
    await finished(approve);
    await until('the daemon is connected', () => gateway.stderr().includes('Connected to controller'));

    expect(await finished(exec)).toMatch(/^Linux /);
    expect((await finished(read)).trim()).toBe(readFileSync('/etc/hostname', 'utf8').trim());
  });
});
