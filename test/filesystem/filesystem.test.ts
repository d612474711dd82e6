import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FILESYSTEM_TOOLS, runFilesystemToolEncoded } from '../../src/filesystem/filesystem.ts';
import { systemClock } from '../../src/support/clock.ts';
import { callTool, temporaryDirectory } from './call-tool.ts';

describe('runFilesystemTool()', () => {
  it('answers with every common field', async () => {
    const directory = temporaryDirectory();

    const outcome = await callTool('files_list', { dirPath: directory });

    expect(outcome).toMatchObject({
      tool: 'files_list',
      ok: true,
      error: null,
      warnings: [],
      artifacts: null,
      durationMs: expect.any(Number),
      resultFingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      execution: { kind: 'gateway', protocolMethod: 'filesystem.execute' },
    });
  });

  it('fingerprints the fields that stand before the fingerprint', async () => {
    const { resultFingerprint, execution, ...before } = await callTool('files_inspect', { path: '/nowhere' });

    const digest = createHash('sha256').update(JSON.stringify(before)).digest('hex');
    expect(resultFingerprint).toBe(digest.slice(0, 16));
    expect(execution.kind).toBe('gateway');
  });

  it('gives the text of the outcome along', async () => {
    const request = { tool: 'files_inspect', arguments: { path: '/' } };
    const deps = { clock: systemClock, cwd: '/' };

    const { outcome, json } = await runFilesystemToolEncoded(request, new AbortController().signal, deps);

    expect(json).toBe(JSON.stringify(outcome));
  });

  it.each(['utf8', 'latin1', 'base64', 'hex'])('gives that text for content in %s', async (encoding) => {
    const filePath = join(temporaryDirectory(), 'all-bytes');
    writeFileSync(filePath, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
    const request = { tool: 'files_read', arguments: { filePath, encoding } };
    const deps = { clock: systemClock, cwd: '/' };

    const { outcome, json } = await runFilesystemToolEncoded(request, new AbortController().signal, deps);

    expect(json).toBe(JSON.stringify(outcome));
    expect(outcome.ok).toBe(true);
  });

  it.each(['files_move', '', '__proto__', 'constructor', 'toString', '\ud800'])(
    'refuses the tool "%s"',
    async (tool) => {
      const outcome = await callTool(tool, { dirPath: '/' });

      expect(outcome).toMatchObject({
        tool,
        ok: false,
        error: 'native_filesystem_tool_unsupported',
        dirPath: '/',
      });
      expect(outcome.diagnostic?.code).toBe('native_filesystem_tool_unsupported');
    },
  );

  it.each([undefined, null, 3, 'text', [], {}])('refuses the arguments %j in every tool', async (given) => {
    const codes = FILESYSTEM_TOOLS.map(async (tool) => (await callTool(tool, given)).error);

    // A search without a query says so first when it has no other trouble; here the path is missing too.
    expect(await Promise.all(codes)).toEqual(FILESYSTEM_TOOLS.map(() => 'invalid_params'));
  });

  it.each([
    ['files_read', 'filePath'],
    ['files_write', 'filePath'],
    ['files_edit', 'filePath'],
    ['files_inspect', 'path'],
    ['files_list', 'dirPath'],
    ['files_find', 'dirPath'],
    ['files_search', 'dirPath'],
  ])('%s refuses paths that are no paths and echoes them as %s', async (tool, argument) => {
    const rest = { content: '', oldText: 'a', newText: 'b', query: 'a' };
    for (const path of ['', 'a\0b', '\ud800', 7, null, ['a']]) {
      const outcome = await callTool(tool, { ...rest, [argument]: path });

      expect(outcome).toMatchObject({ ok: false, error: 'invalid_params' });
      expect(outcome[argument]).toBe(typeof path === 'string' ? path : null);
      expect(outcome.diagnostic?.issues).toEqual([
        { path: `arguments.${argument}`, message: expect.any(String) },
      ]);
    }
  });

  it.each([
    ['files_read', {}, ['filePath']],
    ['files_write', { filePath: 'a' }, ['content']],
    ['files_edit', { newText: '' }, ['filePath', 'oldText']],
    ['files_inspect', {}, ['path']],
    ['files_search', { query: 'a' }, ['dirPath']],
  ])('%s %j names the arguments that are missing', async (tool, given, missing) => {
    expect((await callTool(tool, given)).diagnostic).toEqual({
      code: 'invalid_params',
      message: missing.map((name) => `Argument "arguments.${name}" is missing`).join('; '),
      issues: missing.map((name) => ({ path: `arguments.${name}`, message: 'Is missing' })),
    });
  });

  it('says so when the arguments are no object', async () => {
    expect((await callTool('files_read', 'text')).diagnostic?.message).toBe(
      'Argument "arguments" is not valid: Give the arguments as an object',
    );
  });

  it.each([
    ['files_read', 'nothing/', 'ENOENT'],
    ['files_read', 'file/', 'ENOTDIR'],
    ['files_read', 'file/.', 'ENOTDIR'],
    ['files_read', 'link//', 'ENOTDIR'],
    ['files_read', 'directory/', 'EISDIR'],
    ['files_edit', 'nothing/', 'ENOENT'],
    ['files_edit', 'file/', 'ENOTDIR'],
    ['files_edit', 'directory/', 'EISDIR'],
    ['files_write', 'nothing/', 'EISDIR'],
    ['files_write', 'nothing/below/.', 'EISDIR'],
    ['files_write', 'dangling/', 'EISDIR'],
    ['files_write', 'file/', 'ENOTDIR'],
    ['files_write', 'link/', 'ENOTDIR'],
    ['files_write', 'directory/', 'EISDIR'],
    ['files_inspect', 'file/', 'ENOTDIR'],
  ])('%s "%s" names a directory: %s', async (tool, path, code) => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'file'), 'a');
    mkdirSync(join(cwd, 'directory'));
    symlinkSync('file', join(cwd, 'link'));
    symlinkSync('nowhere', join(cwd, 'dangling'));
    const before = readdirSync(cwd);

    const given = { filePath: path, path, content: 'x', oldText: 'a', newText: 'b' };

    expect(await callTool(tool, given, { cwd })).toMatchObject({ ok: false, error: code });
    expect(readdirSync(cwd)).toEqual(before);
    expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('a');
  });

  it.each([
    ['directory/', 'directory'],
    ['link', 'symlink'],
    ['link/', 'directory'],
    ['nothing/', null],
    ['/', 'directory'],
  ])('files_inspect "%s" is %s', async (path, type) => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'directory'));
    symlinkSync('directory', join(cwd, 'link'));

    expect(await callTool('files_inspect', { path }, { cwd })).toMatchObject({ ok: true, type });
  });

  it('resolves a relative path against the working directory it was given and reports it whole', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'a.txt'), 'here');

    const outcome = await callTool('files_read', { filePath: './x/../a.txt' }, { cwd });

    expect(outcome).toMatchObject({ ok: true, filePath: join(cwd, 'a.txt'), content: 'here' });
  });

  it('echoes the path of a failure as it was given, with a sentence', async () => {
    const outcome = await callTool('files_read', { filePath: './nowhere' }, { cwd: '/' });

    expect(outcome).toMatchObject({ ok: false, error: 'ENOENT', filePath: './nowhere' });
    expect(outcome.diagnostic).toEqual({
      code: 'ENOENT',
      message: 'Tool files_read failed on "./nowhere": no such file or directory (ENOENT)',
    });
  });

  it('ignores arguments it does not know', async () => {
    const outcome = await callTool('files_inspect', { path: '/', why: 'because', __proto__: { a: 1 } });

    expect(outcome.ok).toBe(true);
  });

  it.each(FILESYSTEM_TOOLS)('answers %s as cancelled when it was cancelled before', async (tool) => {
    const directory = temporaryDirectory();

    const outcome = await callTool(tool, { dirPath: directory }, { signal: AbortSignal.abort() });

    expect(outcome).toMatchObject({ ok: false, error: 'cancelled', diagnostic: { code: 'cancelled' } });
  });

  it('honours a cancel in the middle of a search within 100 ms', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'a'));
    const line = 'nothing to be found on this line of text\n';
    // A sparse file of 8 GiB behind some text: no zero byte in its first 8 KiB, and far too long to be searched in time.
    writeFileSync(join(directory, 'a/huge'), line.repeat(300));
    truncateSync(join(directory, 'a/huge'), 8 * 1024 ** 3);
    const controller = new AbortController();
    let abortedAtMs = 0;
    setTimeout(() => {
      abortedAtMs = performance.now();
      controller.abort();
    }, 50);

    const outcome = await callTool('files_search', { dirPath: directory, query: 'absent' }, controller);

    expect(outcome.error).toBe('cancelled');
    expect(performance.now() - abortedAtMs).toBeLessThan(100);
  });
});
