import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { burrow } from '../../src/commands/cli.ts';
import { flattenTree, loadCommandTree } from '../../src/commands/command-tree.ts';
import { COMPLETION_SCRIPTS } from '../../src/commands/completion-scripts.ts';

const tree = await loadCommandTree(burrow);

/** What bash offers for the last of these words. */
function complete(...words: string[]): string[] {
  const script = `${COMPLETION_SCRIPTS['bash']?.(tree)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _burrow; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

describe('bash()', () => {
  it('offers the commands', () => {
    expect(complete('burrow', '')).toEqual(tree.children.map((node) => node.command.meta.name));
  });

  it.each([
    [['burrow', 'fs', 're'], ['read']],
    [['burrow', 'exec', '--time'], ['--timeout']],
    [
      ['burrow', 'exec', '--cwd', '/etc/host'],
      ['/etc/hosts', '/etc/hostname'],
    ],
    [['burrow', 'exec', '--timeout', ''], []],
    [['burrow', 'exec', '--cwd', '/tmp', '--evi'], ['--evidence']],
  ])('completes %j', (words, wanted) => {
    expect(complete(...words)).toEqual(expect.arrayContaining(wanted));
    if (wanted.length === 0) expect(complete(...words)).toEqual([]);
  });
});

describe('COMPLETION_SCRIPTS', () => {
  it.each(Object.keys(COMPLETION_SCRIPTS))('names every command and flag for %s', (shell) => {
    const script = COMPLETION_SCRIPTS[shell]?.(tree) ?? '';
    for (const { path, command } of flattenTree(tree)) {
      expect(script).toContain(path.at(-1));
      const flags = Object.entries(command.args ?? {}).filter(([, flag]) => flag.type !== 'positional');
      for (const [name] of flags) expect(script).toContain(shell === 'fish' ? `-l ${name}` : `--${name}`);
    }
  });
});

describe('commands', () => {
  it.each(flattenTree(tree).map((node) => [node.path.join(' '), node] as const))(
    '%s has a description and two examples',
    (_path, { command }) => {
      expect(command.meta.description).toMatch(/^\S.*\S$/);
      expect(command.examples?.length).toBeGreaterThanOrEqual(2);
    },
  );
});
