import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemErrorSentence } from '../../src/commands/system-error.ts';
import { makeDirectory } from '../../src/support/make-directory.ts';

const directory = mkdtempSync(join(tmpdir(), 'burrow-system-error-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('systemErrorSentence()', () => {
  const none = join(directory, 'none');
  const other = join(directory, 'other');
  const missing = 'no such file or directory (ENOENT)';

  it.each<[string, () => unknown, string]>([
    ['a file', () => readFileSync(none), `Cannot open "${none}": ${missing}`],
    ['no path', () => readFileSync('/'), 'Cannot read: illegal operation on a directory (EISDIR)'],
    ['an action', () => mkdirSync(directory), `Cannot make "${directory}": file already exists (EEXIST)`],
    ['another', () => rmdirSync(none), `Cannot remove "${none}": ${missing}`],
    ['two paths', () => renameSync(none, other), `Cannot rename "${none}" to "${other}": ${missing}`],
  ])('says what could not be done: %s', (_, act, sentence) => {
    expect(systemErrorSentence(thrownBy(act))).toBe(sentence);
  });

  it('names a socket', async () => {
    const path = join(directory, 'none.sock');
    const socket = connect(path);
    onTestFinished(() => void socket.destroy());
    const error = await new Promise((resolve) => socket.once('error', resolve));

    expect(systemErrorSentence(error)).toMatch(/^Cannot connect ".*none\.sock": .* \(ENOENT\)$/);
  });

  it('leaves a sentence of ours as it is', async () => {
    const error = await makeDirectory('/proc/none').catch((reason: unknown) => reason);

    expect(systemErrorSentence(error)).toMatch(/^Cannot make directory "\/proc\/none": .* \(ENOENT\)$/);
  });

  it.each([
    ['a fault of ours', new TypeError('x is not a function')],
    ['an error of Node.js', thrownBy(() => readFileSync(undefined as never))],
    ['no error', 'text'],
  ])('knows nothing of %s', (_, error) => {
    expect(systemErrorSentence(error)).toBeUndefined();
  });
});
