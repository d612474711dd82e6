import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
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
  // Readline splits there.
  it('offers the words also after a sign', () => {
    expect(complete('burrow', 'fs', 'read', '--encoding', '=')).toContain('hex');
    expect(complete('burrow', 'fs', 'read', '--encoding', '=', 'h')).toEqual(['hex']);
  });

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
    [
      ['burrow', 'exec', '--cwd', '=', '/etc/host'],
      ['/etc/hosts', '/etc/hostname'],
    ],
  ])('completes %j', (words, wanted) => {
    expect(complete(...words)).toEqual(expect.arrayContaining(wanted));
    if (wanted.length === 0) expect(complete(...words)).toEqual([]);
  });
});

/** What zsh offers for the last of these words; its own functions are stood in for. */
function completeInZsh(...words: string[]): string[] {
  const script = `_files() { print -r -- FILES }
compdef() { : }; compset() { : }
compadd() { shift; print -rl -- "$@" }
_describe() { print -rl -- \${\${(P)\${@[-1]}}%%:*} }
${COMPLETION_SCRIPTS['zsh']?.(tree)}
words=("$@"); CURRENT=$#; _burrow`;
  return linesOf(execFileSync('zsh', ['-f', '-c', script, 'zsh', ...words], { encoding: 'utf8' }));
}

function completeInFish(...words: string[]): string[] {
  const script = `${COMPLETION_SCRIPTS['fish']?.(tree)}\ncomplete -C $argv[1]`;
  // It writes settings into its home.
  const home = mkdtempSync(join(tmpdir(), 'burrow-fish-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const output = execFileSync('fish', ['--no-config', '-c', script, words.join(' ')], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home },
  });
  return linesOf(output).map((line) => line.split('\t')[0] ?? '');
}

function linesOf(output: string): string[] {
  return output.split('\n').filter((line) => line !== '');
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

describe.each([
  ['bash', complete],
  ['zsh', completeInZsh],
  ['fish', completeInFish],
] as const)('a fixed set of words in %s', (shell, offered) => {
  it.runIf(isInstalled(shell)).each<[string[], string[]]>([
    [
      ['burrow', 'completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [
      ['burrow', 'node', 'new', ''],
      ['python', 'sh', 'typescript'],
    ],
    [
      ['burrow', 'node', 'new', '--dir', '/tmp', ''],
      ['python', 'sh', 'typescript'],
    ],
    [
      ['burrow', 'fs', 'read', '--encoding', ''],
      ['base64', 'hex', 'latin1', 'utf8'],
    ],
    [
      ['burrow', 'daemon', '--log-level', ''],
      ['debug', 'error', 'info', 'warn'],
    ],
  ])('is offered, and nothing else: %j', (words, wanted) => {
    expect(offered(...words).toSorted()).toEqual(wanted);
  });

  it.runIf(isInstalled(shell))('is not offered again after one was given', () => {
    expect(offered('burrow', 'node', 'new', 'sh', '')).not.toContain('python');
  });

  it.runIf(isInstalled(shell))('leaves the commands of a group as they are', () => {
    expect(offered('burrow', 'node', '')).toContain('bench');
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
