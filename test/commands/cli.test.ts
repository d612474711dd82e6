import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { burrow, runCli } from '../../src/commands/cli.ts';
import type { Command } from '../../src/commands/command.ts';
import { systemClock } from '../../src/support/clock.ts';

interface Found {
  path: string[];
  command: Command;
}

async function everyCommand(command = burrow, path: string[] = []): Promise<Found[]> {
  const others = Object.entries(command.subCommands ?? {}).map(async ([name, load]) =>
    everyCommand(await load(), [...path, name]),
  );
  return [{ path, command }, ...(await Promise.all(others)).flat()];
}

async function run(args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const status = await runCli(args, {
    env: {},
    cwd: '/',
    stdin: new PassThrough(),
    stdout,
    stderr,
    abandonStdout: () => {},
    clock: systemClock,
    onSignal: () => () => {},
  });
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

describe('every command', () => {
  it('has a description, two examples of its own, and help that shows them', async () => {
    const found = await everyCommand();
    expect(found.length).toBeGreaterThan(20);
    for (const { path, command } of found) {
      const whole = ['burrow', ...path].join(' ');
      const examples = command.examples ?? [];
      const { status, stdout, stderr } = await run([...path, '--help']);

      expect([whole, examples.length >= 2, command.meta.description !== '']).toEqual([whole, true, true]);
      expect({ whole, status, stderr }).toEqual({ whole, status: 0, stderr: '' });
      for (const { command: line, does } of examples) {
        expect(stdout).toContain(line);
        expect(stdout).toContain(does);
      }
      expect(stdout).not.toContain('\u001b');
    }
  });

  it('is named in its help as it is called', async () => {
    for (const { path, command } of await everyCommand()) {
      expect(command.meta.name).toBe(path.at(-1) ?? 'burrow');
      expect((await run([...path, '-h'])).stdout).toContain(`USAGE ${['burrow', ...path].join(' ')}`);
    }
  });

  it('refuses a flag that is not known, and shows no stack', async () => {
    for (const { path, command } of await everyCommand()) {
      if (command.subCommands !== undefined) continue;
      const { status, stderr } = await run([...path, '--no-such-flag']);

      expect({ path, status }).toEqual({ path, status: 2 });
      expect(stderr).toMatch(/^burrow: Flag "--no-such-flag" is not known\nburrow: .*\n$/);
    }
  });

  it('that speaks to a gateway takes the flags that say which', async () => {
    const speaks = ({ path, command }: Found): boolean =>
      command.subCommands === undefined && ['exec', 'fs', 'client'].includes(path[0] ?? '');
    const speaking = (await everyCommand()).filter(speaks);
    expect(speaking.length).toBeGreaterThan(15);
    for (const { path, command } of speaking) {
      expect([path, Object.keys(command.args ?? {})]).toEqual([
        path,
        expect.arrayContaining(['socket', 'controller', 'target']),
      ]);
    }
  });
});
