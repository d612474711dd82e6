import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, burrow, canRun, processesWith, until } from './daemon.ts';

describe('burrow', () => {
  it.each([['--help'], ['-h'], ['exec', '--help'], ['exec', '--env', '-h'], ['client', 'raw', '-h']])(
    'shows help with examples for %s %s %s',
    (...args) => {
      const ran = burrow(args.filter((arg) => typeof arg === 'string'));

      expect(ran).toMatchObject({ status: 0, stderr: '' });
      expect(ran.stdout.slice(ran.stdout.indexOf('EXAMPLES')).match(/^ {2}\S/gm)?.length).toBeGreaterThan(1);
    },
  );

  it('has no colour where it is not on a terminal', () => {
    for (const args of [['--help'], ['--no-color', '--help'], ['exec', '--help']])
      expect(burrow(args, { env: { FORCE_COLOR: '1' } }).stdout).not.toContain('\x1b');
  });

  it.skipIf(!canRun('script', '-qec', 'true', '/dev/null')).each([
    [[], { NO_COLOR: '1' }, false],
    [['--no-color'], { NO_COLOR: undefined }, false],
    [[], { NO_COLOR: undefined }, true],
  ] as const)('on a terminal with %j and %j has colour: %s', (args, env, hasColour) => {
    // script(1) gives it a terminal.
    const command = [BURROW, ...args, '--help'].join(' ');
    const ran = burrow(['exec', '--', 'script', '-qec', command, '/dev/null'], {
      env: { ...env, TERM: 'xterm', CI: undefined, TEST: undefined },
    });

    expect(ran.stdout).toContain('EXAMPLES');
    expect(ran.stdout.includes('\x1b[')).toBe(hasColour);
  });

  it.each<[string[], string]>([
    [['exce'], 'Did you mean "burrow exec"?'],
    [['dameon'], 'Did you mean "burrow daemon"?'],
    [['client', 'helo'], 'Did you mean "burrow client hello"?'],
    [['exec', '--tiemout', '5s', '--', 'true'], 'Did you mean "--timeout"?'],
    [['daemon', '--statedir', '/x'], 'Did you mean "--state-dir"?'],
    [['nonsense'], 'Commands: exec'],
    [['constructor'], 'Commands: exec'],
    [['client', '__proto__'], 'Commands: hello'],
    [[''], 'Commands: exec'],
    [['-x'], 'Commands: exec'],
    [['version', 'x'], 'Argument "x" is not expected'],
    [['version', '--', 'x'], 'Argument "x" is not expected'],
    [['daemon', '--', 'x'], 'Argument "x" is not expected'],
    [['exec', '--env'], 'Flag "--env" needs a value'],
    [['exec', '--timeout', '-5', '--', 'true'], 'Flag "--timeout" needs a value'],
    [['exec', '--json=1', '--', 'true'], 'Flag "--json" takes no value'],
    [['daemon', '--max-operations', '0'], '--max-operations'],
    [['daemon', '--log-level', 'loud'], '--log-level'],
    [['client', 'exec'], 'PARAMS'],
    [['client', 'exec', '{'], 'is not a JSON object'],
    [['client', 'exec', '[]'], 'is not a JSON object'],
    [['client', 'cancel'], 'ID'],
  ])('%j is refused with help', (args, text) => {
    const ran = burrow(args);

    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toContain(text);
    expect(ran.stderr).toMatch(/^(burrow: .*\n)+$/);
  });

  it('shows its help on stderr without a command', () => {
    const ran = burrow([]);

    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toContain('EXAMPLES');
  });

  it('tells its version', () => {
    const facts = JSON.parse(burrow(['version', '--json']).stdout);

    expect(facts).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      node: expect.stringMatching(/^24\./),
      commit: expect.any(String),
    });
    for (const args of [['version'], ['--version']])
      expect(burrow(args).stdout).toBe(
        `burrow ${facts.version} (Node.js ${facts.node}, commit ${facts.commit})\n`,
      );
  });
});

describe('burrow client', () => {
  it.each(['hello', 'health', 'shutdown'])('prints the answer to %s', (method) => {
    const json = burrow(['client', method, '--json']);
    const text = burrow(['client', method]);

    expect(json).toMatchObject({ status: 0, stderr: '' });
    for (const name of Object.keys(JSON.parse(json.stdout))) expect(text.stdout).toMatch(`${name} `);
  });

  it('prints every envelope of an operation', () => {
    const ran = burrow(['client', 'exec', '{"command":"echo hi; exit 3"}']);
    const types = ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);

    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(types).toEqual(['accepted', 'process.stream', 'process.terminal', 'response']);
  });

  it('exits 125 for a request that is refused, and prints why', () => {
    const ran = burrow(['client', 'exec', '{"command":1}']);

    expect(ran).toMatchObject({ status: 125, stderr: '' });
    expect(JSON.parse(ran.stdout).error.code).toBe('command_invalid');
  });

  it('relays lines, answers all of them to a slow reader and warns of nothing', () => {
    const input = Array.from({ length: 3_000 }, (_, id) => `{"id":${id},"method":"health"}\n`).join('');
    const reader = 'head -c 100000; sleep .3; cat';
    const ran = spawnSync('/bin/sh', ['-c', `${BURROW} client raw | { ${reader}; }`], {
      input: `nonsense\n${input}`,
      encoding: 'utf8',
      maxBuffer: 16_000_000,
    });

    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(ran.stdout.split('\n')).toHaveLength(3_002);
  });

  it.each([
    ['client exec', ['client', 'exec', '{"command":"echo up; exec sleep 3093","timeoutMs":60000}'], ''],
    [
      'client raw',
      ['client', 'raw'],
      '{"id":1,"method":"process.exec","params":{"command":"echo up; exec sleep 3093"}}\n',
    ],
  ])('leaves nothing behind when %s is interrupted', async (_, args, input) => {
    const child = spawn(BURROW, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk));
    child.stdin.write(input);
    await until('it is up', () => output.includes('"up'));
    child.kill('SIGINT');

    expect(await ended).toEqual([130, null]);
    expect(processesWith('3093')).toEqual([]);
    expect(output).toContain('"cancelled":true');
  });

  it('ends its operation when its reader goes away', async () => {
    const child = spawn(BURROW, ['client', 'exec', '{"command":"yes 3094","maxOutputBytes":1000000000}'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.stdout.destroy();

    expect(await ended).toEqual([130, null]);
    expect(processesWith('3094')).toEqual([]);
  });
});
