import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Command, nearest, parseCall, UsageError } from '../../src/commands/command.ts';
import type { System } from '../../src/commands/system.ts';
import { systemClock } from '../../src/support/clock.ts';

const system: System = {
  env: {},
  cwd: '/',
  stdin: new PassThrough(),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  abandonStdout: () => {},
  clock: systemClock,
  onSignal: () => () => {},
};

const command: Command = {
  meta: { name: 'paint', description: 'For the test' },
  args: {
    file: { type: 'positional', description: '' },
    colour: { type: 'string', alias: 'c', description: '' },
    layer: { type: 'string', multiple: true, description: '' },
    note: { type: 'string', mayBeEmpty: true, description: '' },
    wet: { type: 'boolean', description: '' },
  },
};

function refusal(args: string[], own = command): UsageError {
  try {
    parseCall(own, args, system);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('It was taken');
}

describe('parseCall()', () => {
  it('reads flags, short flags, repeated flags and positionals in any order', () => {
    const call = parseCall(command, ['--layer', 'a', '-c', 'red', 'wall', '--layer=b', '--wet'], system);

    expect(call.flags).toEqual({ colour: 'red', layer: ['a', 'b'], wet: true });
    expect(call.positionals).toEqual(['wall']);
  });

  it('takes what stands behind -- as positional, or as the command to run where there is one', () => {
    expect(parseCall(command, ['--', '--odd-name'], system)).toMatchObject({
      positionals: ['--odd-name'],
      rest: undefined,
    });
    expect(parseCall({ ...command, takesRest: true }, ['--wet', '--', '--odd', '--'], system)).toMatchObject({
      positionals: [],
      rest: ['--odd', '--'],
    });
  });

  it.each([
    [['wall', '--color', 'red'], 'Flag "--color" is not known', 'Did you mean "--colour"?'],
    [['wall', '--nothing-like-it'], 'Flag "--nothing-like-it" is not known', undefined],
    [['wall', '-x'], 'Flag "-x" is not known', undefined],
    [['wall', '--constructor'], 'Flag "--constructor" is not known', undefined],
    [['wall', '--__proto__=1'], 'Flag "--__proto__" is not known', undefined],
    [['wall', '--colour'], 'Flag "--colour" needs a value', expect.stringContaining('--colour=VALUE')],
    [['wall', '--colour', '-5'], 'Flag "--colour" needs a value', expect.stringContaining('--colour=VALUE')],
    [['wall', '--colour', ''], 'Flag "--colour" needs a value, not an empty one', expect.any(String)],
    [['wall', '--colour='], 'Flag "--colour" needs a value, not an empty one', expect.any(String)],
    [['wall', '-c', ''], 'Flag "--colour" needs a value, not an empty one', expect.any(String)],
    [
      ['wall', '--layer', 'a', '--layer='],
      'Flag "--layer" needs a value, not an empty one',
      expect.any(String),
    ],
    [['wall', '--wet=no'], 'Flag "--wet" takes no value', undefined],
    [[], 'Argument FILE is missing', undefined],
    [['wall', 'door'], 'Argument "door" is not expected', undefined],
    [['wall', '--', 'door'], 'Argument "door" is not expected', undefined],
  ])('refuses %j', (args, message, hint) => {
    const { message: text, hint: given } = refusal(args);

    expect({ text, given }).toEqual({ text: message, given: hint });
  });

  it('takes an empty value where that means something', () => {
    expect(parseCall(command, ['wall', '--note='], system).flags).toEqual({ note: '' });
  });

  it('hints at -- where a command can be run', () => {
    expect(refusal(['wall', 'door'], { ...command, takesRest: true }).hint).toContain('"--"');
  });
});

describe('nearest()', () => {
  const names = ['exec', 'client', 'daemon', 'version', 'fs'];

  it.each([
    ['exce', 'exec'],
    ['dameon', 'daemon'],
    ['clien', 'client'],
    ['versoin', 'version'],
    ['sf', 'fs'],
    ['banana', undefined],
    ['', undefined],
    ['x'.repeat(10_000), undefined],
  ])('%s is %s', (word, name) => {
    expect(nearest(word, names)).toBe(name);
  });
});
