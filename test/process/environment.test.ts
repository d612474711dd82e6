import { describe, expect, it } from 'vitest';
import { createChildEnvironment } from '../../src/process/environment.ts';

describe('createChildEnvironment()', () => {
  it.each([
    'BURROW_GATEWAY_ENROLLMENT_TOKEN',
    'BURROW_GATEWAY_ID',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    'NOTIFY_SOCKET',
    'LISTEN_FDS',
    'WATCHDOG_USEC',
    'INVOCATION_ID',
    'JOURNAL_STREAM',
    'CREDENTIALS_DIRECTORY',
    'PKG_EXECPATH',
  ])('keeps %s of the daemon from its children', (name) => {
    const environment = createChildEnvironment({ [name]: 'private', HOME: '/root' });
    expect(environment([])).toEqual({ HOME: '/root' });
    expect(environment([[name, 'wanted']])).toEqual({ HOME: '/root', [name]: 'wanted' });
  });

  it.each([
    'NODE_OPTIONS',
    'LD_LIBRARY_PATH',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'PKG_CONFIG_PATH',
    'my.key',
    '1X',
    'BASH_FUNC_f%%',
  ])('hands on %s unchanged', (name) => {
    expect(createChildEnvironment({ [name]: 'kept' })([])).toEqual({ [name]: 'kept' });
  });

  it('lets the last of several additions win', () => {
    const environment = createChildEnvironment({ A: 'host' });
    expect(
      environment([
        ['A', 'request'],
        ['A', 'protected'],
      ]),
    ).toEqual({ A: 'protected' });
    expect(environment([])).toEqual({ A: 'host' });
  });

  it('takes names that an ordinary object cannot hold', () => {
    const env = createChildEnvironment({})([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(Object.entries(env)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('leaves out what the host has not set', () => {
    expect(createChildEnvironment({ A: undefined })([])).toEqual({});
  });
});
