import { describe, expect, it } from 'vitest';
import { describeValue, parseEnvFile, quoteEnvValue, setEnvValue } from '../../src/commands/host-env-file.ts';

function valueOfA(text: string): string | undefined {
  const { values, problems } = parseEnvFile(text);
  expect(problems).toEqual([]);
  return values.get('A');
}

describe('parseEnvFile()', () => {
  it.each([
    ['a dollar sign', 'A=a$b', 'a$b'],
    ['a quote in the middle', `A=a"b'c`, `a"b'c`],
    ['a number sign', 'A=a#b #c', 'a#b #c'],
    ['an equals sign', 'A=a=b', 'a=b'],
    ['single quotes around a backslash', String.raw`A='a\b'`, String.raw`a\b`],
    ['single quotes around blanks', "A=' a '", ' a '],
    ['double quotes', String.raw`A="a \"b\" \$c \\ \n"`, String.raw`a "b" $c \ \n`],
    ['a line end of another system', 'A=a\r\n', 'a'],
    ['UTF-8', 'A=10 €', '10 €'],
    ['nothing', 'A=', ''],
    ['the later of two', 'A=a\nA=b', 'b'],
  ])('takes %s as it stands', (_what, text, wanted) => {
    expect(valueOfA(text)).toBe(wanted);
  });

  it('takes comments and empty lines for nothing', () => {
    expect(parseEnvFile('# A=a\n; A=b\n\n   \n')).toEqual({ values: new Map(), problems: [] });
  });

  it.each([
    ['a backslash', String.raw`A=a\b`, 'backslash'],
    ['a blank at the end', 'A=a ', 'blank'],
    ['a blank at the start', 'A= a', 'blank'],
    ['a quote that does not end', 'A="a', 'quote'],
    ['text after a quoted value', `A='a' # b`, 'quote'],
    ['a value with a tab at its end', 'A=a\t', 'blank'],
    ['a control character', 'A=a\u0001', 'control character'],
    ['text that is not UTF-8', 'A=\ufffd', 'UTF-8'],
    ['a line without a name', 'hello', 'NAME=VALUE'],
    ['export', 'export A=a', 'export'],
    ['a comment that swallows the next line', '# a\\', 'backslash'],
  ])('refuses %s', (_what, line, reason) => {
    const { problems } = parseEnvFile(`B=b\n${line}`);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.line).toBe(2);
    expect(problems[0]?.message).toContain(reason);
  });

  it('tells length and digest of a refused value, never the value', () => {
    const [problem] = parseEnvFile('TOKEN=hunter2 ').problems;
    expect(problem?.message).toContain(describeValue('hunter2 '));
    expect(problem?.message).not.toContain('hunter2');
  });
});

describe('quoteEnvValue()', () => {
  it.each(['a', 'a b', ' a', 'a ', 'a\\', `'a`, `"a`, `a'b\\"$\``, 'a$b#c', '', '€'])(
    'writes %j so that it is read back',
    (value) => {
      expect(valueOfA(`A=${quoteEnvValue(value)}`)).toBe(value);
    },
  );

  it('refuses a line break', () => {
    expect(() => quoteEnvValue('a\nb')).toThrow(RangeError);
  });
});

describe('setEnvValue()', () => {
  it.each([
    ['replaces a setting', 'X=1\nA=a\n', 'X=1\nA=new\n'],
    ['takes the place of a commented example', '# about A\n#A=a\nX=1\n', '# about A\nA=new\nX=1\n'],
    ['adds at the end', 'X=1\n', 'X=1\nA=new\n'],
    ['leaves one of several', 'A=a\nX=1\nA=b\n', 'A=new\nX=1\n'],
    ['ends a last line first', 'X=1', 'X=1\nA=new\n'],
  ])('%s', (_what, before, after) => {
    expect(setEnvValue(before, 'A', 'new')).toBe(after);
  });

  it('comments a setting out when there is no value', () => {
    expect(setEnvValue('X=1\nA=secret\n', 'A', undefined)).toBe('X=1\n#A=\n');
  });

  it('leaves a file without the setting as it is', () => {
    expect(setEnvValue('X=1\n#A=a\n', 'A', undefined)).toBe('X=1\n#A=a\n');
  });
});
