import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callTool,
  callToolAsUser,
  fileWith,
  isRoot,
  sharedDirectory,
  temporaryDirectory,
} from './call-tool.ts';

describe('files_read', () => {
  it('reads a whole file by default', async () => {
    const filePath = fileWith('grün\n');

    const outcome = await callTool('files_read', { filePath, workspaceRoot: '/w' });

    const contentHash = createHash('sha256').update('grün\n').digest('hex').slice(0, 16);
    expect(outcome).toMatchObject({ ok: true, filePath, workspaceRoot: '/w', encoding: 'utf8', bytes: 6 });
    expect(outcome).toMatchObject({ offsetBytes: 0, returnedBytes: 6, contentHash, content: 'grün\n' });
    expect(outcome).toMatchObject({ truncated: false, nextOffsetBytes: null, warnings: [] });
    expect(outcome.modifiedAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('joins to the exact file when pages follow nextOffsetBytes, with any maxBytes', async () => {
    const directory = temporaryDirectory();
    const filePath = join(directory, 'file');
    const text = fc.string({ unit: fc.constantFrom('a', 'ß', '€', '😀', '\n', '\r\n'), maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (whole, maxBytes) => {
        writeFileSync(filePath, whole);
        let joined = '';
        for (let offsetBytes: unknown = 0; offsetBytes !== null; ) {
          const page = await callTool('files_read', { filePath, offsetBytes, maxBytes });
          joined += page.content;
          offsetBytes = page.nextOffsetBytes;
        }
        expect(joined).toBe(whole);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['base64', 'AP/+'],
    ['hex', '00fffe'],
    ['latin1', '\u0000\u00ff\u00fe'],
    ['utf8', '\u0000\ufffd\ufffd'],
    ['UTF-8', '\u0000\ufffd\ufffd'],
    ['', '\u0000\ufffd\ufffd'],
    [null, '\u0000\ufffd\ufffd'],
  ])('decodes as %s', async (encoding, content) => {
    const filePath = fileWith(Uint8Array.of(0, 0xff, 0xfe));

    expect(await callTool('files_read', { filePath, encoding })).toMatchObject({ ok: true, content });
  });

  it.each(['utf16le', 'ascii', 7])('refuses the encoding %s', async (encoding) => {
    expect((await callTool('files_read', { filePath: '/etc/hostname', encoding })).error).toBe(
      'invalid_params',
    );
  });

  it.each([
    ['"2"', '2', 2],
    ['null', null, 6],
    ['an empty string', '', 6],
    ['0', 0, 6],
    ['a negative number', -4, 6],
    ['a word', 'many', 6],
  ])('takes a maxBytes of %s', async (_, maxBytes, returnedBytes) => {
    const filePath = fileWith('abcdef');

    expect(await callTool('files_read', { filePath, maxBytes, offsetBytes: null })).toMatchObject({
      returnedBytes,
    });
  });

  it('returns no more than a frame holds, however much is asked for', async () => {
    const filePath = fileWith('');
    truncateSync(filePath, 8 * 1024 * 1024);

    const outcome = await callTool('files_read', { filePath, maxBytes: 1e9, encoding: 'latin1' });

    expect(outcome).toMatchObject({ returnedBytes: 2 * 1024 * 1024, nextOffsetBytes: 2 * 1024 * 1024 });
  });

  it.each([
    ['1', 1],
    [' 2 ', 2],
    ['', 0],
    [null, 0],
    [-0, 0],
    [3.0, 3],
  ])('takes an offsetBytes of %j', async (offsetBytes, read) => {
    expect(await callTool('files_read', { filePath: fileWith('abcd'), offsetBytes })).toMatchObject({
      ok: true,
      offsetBytes: read,
      content: 'abcd'.slice(read),
    });
  });

  it.each([[1e18], [2 ** 53], ['abc'], [-1], ['-1'], [1.5], [true], [{}], [[1]], ['1e400']])(
    'refuses an offsetBytes of %j, for the beginning is not what was asked for',
    async (offsetBytes) => {
      const outcome = await callTool('files_read', { filePath: fileWith('abcd'), offsetBytes });

      expect(outcome).toMatchObject({ ok: false, error: 'invalid_params' });
      expect(outcome.diagnostic?.message).toBe(
        'Argument "arguments.offsetBytes" is not valid: Give a whole number of bytes from 0 to 9007199254740991',
      );
    },
  );

  it.each([3, 10, 2 ** 53 - 1])('is empty behind the end, at %d', async (offsetBytes) => {
    const filePath = fileWith('abc');

    const outcome = await callTool('files_read', { filePath, offsetBytes });

    expect(outcome).toMatchObject({
      ok: true,
      offsetBytes,
      content: '',
      returnedBytes: 0,
      truncated: false,
      nextOffsetBytes: null,
    });
  });

  it('says when a character is longer than the page or the offset lies inside one', async () => {
    const filePath = fileWith('😀€');

    const first = await callTool('files_read', { filePath, maxBytes: 1 });
    const inside = await callTool('files_read', { filePath, offsetBytes: 5 });

    expect(first).toMatchObject({
      content: '😀',
      returnedBytes: 4,
      warnings: [expect.stringContaining('longer')],
    });
    expect(inside).toMatchObject({ content: '\ufffd\ufffd', warnings: [expect.stringContaining('inside')] });
  });

  it('keeps the byte-order mark and the line ends', async () => {
    const filePath = fileWith('\ufeffa\r\nb');

    expect(await callTool('files_read', { filePath })).toMatchObject({ content: '\ufeffa\r\nb' });
  });

  it('reads a little of a huge file in constant memory', async () => {
    const filePath = fileWith('first line\n');
    truncateSync(filePath, 8 * 1024 ** 3);
    const before = process.memoryUsage().rss;

    const first = await callTool('files_read', { filePath, maxBytes: 11 });
    const last = await callTool('files_read', { filePath, offsetBytes: 8 * 1024 ** 3 - 4, encoding: 'hex' });

    expect(first).toMatchObject({ content: 'first line\n', bytes: 8 * 1024 ** 3, truncated: true });
    expect(last).toMatchObject({ content: '00000000', truncated: false, nextOffsetBytes: null });
    expect(process.memoryUsage().rss - before).toBeLessThan(16 * 1024 * 1024);
  });

  it('reads files of /proc, which say they are empty', async () => {
    const outcome = await callTool('files_read', { filePath: '/proc/self/limits' });

    expect(outcome.content).toBe(readFileSync('/proc/self/limits', 'utf8'));
  });

  it.runIf(existsSync('/dev/shm'))('reads the same from a file system without a disk', async () => {
    const directory = mkdtempSync('/dev/shm/burrow-read-');
    const filePath = join(directory, 'file');
    writeFileSync(filePath, 'a€b');

    const outcome = await callTool('files_read', { filePath, maxBytes: 3 });

    expect(outcome).toMatchObject({ content: 'a', nextOffsetBytes: 1, bytes: 5, truncated: true });
    rmSync(directory, { recursive: true });
  });

  it('follows symlinks', async () => {
    const filePath = fileWith('through');
    symlinkSync('file', `${filePath}.link`);

    expect(await callTool('files_read', { filePath: `${filePath}.link` })).toMatchObject({
      content: 'through',
    });
  });

  it.each(['/dev/zero', '/dev/tty', '/proc/self/mem', '/proc/thread-self/mem'])(
    'refuses %s at once',
    async (filePath) => {
      const startMs = performance.now();

      const outcome = await callTool('files_read', { filePath });

      expect(outcome.error).toBe('not_a_regular_file');
      expect(performance.now() - startMs).toBeLessThan(500);
    },
  );

  it('refuses a FIFO, a socket and a link to a device', async () => {
    const directory = temporaryDirectory();
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    symlinkSync('/dev/zero', join(directory, 'link'));
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(directory, 'socket'), done));

    for (const name of ['fifo', 'socket', 'link']) {
      expect((await callTool('files_read', { filePath: join(directory, name) })).error).toBe(
        'not_a_regular_file',
      );
    }

    await new Promise((done) => server.close(done));
  });

  it.each([
    ['a directory', '.', 'EISDIR'],
    ['a missing file', 'nowhere', 'ENOENT'],
    ['a path through a file', 'file/x', 'ENOTDIR'],
    ['a symlink loop', 'loop', 'ELOOP'],
    ['a name that is too long', 'x'.repeat(300), 'ENAMETOOLONG'],
  ])('fails on %s', async (_, name, code) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    symlinkSync('loop', join(directory, 'loop'));

    expect(await callTool('files_read', { filePath: name }, { cwd: directory })).toMatchObject({
      ok: false,
      error: code,
    });
  });

  it.runIf(isRoot)('fails with EACCES as an ordinary user', () => {
    const directory = sharedDirectory();
    writeFileSync(join(directory, 'secret'), 'x', { mode: 0o600 });
    writeFileSync(join(directory, 'open'), 'y', { mode: 0o644 });

    expect(callToolAsUser('files_read', { filePath: join(directory, 'secret') }).error).toBe('EACCES');
    expect(callToolAsUser('files_read', { filePath: join(directory, 'open') })).toMatchObject({
      content: 'y',
    });
  });
});
