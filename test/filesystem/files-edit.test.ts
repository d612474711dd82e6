import { createHash } from 'node:crypto';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { callTool, fileWith, temporaryDirectory } from './call-tool.ts';

describe('files_edit', () => {
  it('replaces the one place where the text occurs', async () => {
    const filePath = fileWith('one\ntwo\nthree');

    const outcome = await callTool('files_edit', { filePath, oldText: 'two', newText: 'zwei' });

    expect(outcome).toMatchObject({
      ok: true,
      filePath,
      replaced: 1,
      changedFiles: [filePath],
      warnings: [],
    });
    expect(readFileSync(filePath, 'utf8')).toBe('one\nzwei\nthree');
  });

  it.each(["$& $' $$ $1 $`", '$<name>', '\\1 \\n', '%s', '', '\u0000'])(
    'inserts "%s" byte for byte',
    async (newText) => {
      const filePath = fileWith('before PLACE behind\n');

      await callTool('files_edit', { filePath, oldText: 'PLACE', newText });

      const read = await callTool('files_read', { filePath });
      const expected = `before ${newText} behind\n`;
      expect(read.content).toBe(expected);
      expect(read.contentHash).toBe(createHash('sha256').update(expected).digest('hex').slice(0, 16));
    },
  );

  it.each(['.', '.*', '^a', '(', '$'])('takes the old text "%s" literally', async (oldText) => {
    const filePath = fileWith(`aab ${oldText} c`);

    expect((await callTool('files_edit', { filePath, oldText, newText: 'X' })).ok).toBe(true);
    expect(readFileSync(filePath, 'utf8')).toBe('aab X c');
  });

  it.each([
    ['does not occur', 'abc', 'x', 'old_text_not_found'],
    ['occurs twice', 'ab ab', 'ab', 'old_text_not_unique'],
    ['occurs twice with overlap', 'aaa', 'aa', 'old_text_not_unique'],
    ['occurs twice with CRLF', 'a\r\nb a\r\nb', 'a\nb', 'old_text_not_unique'],
    ['spans line ends of both kinds', 'a\r\nb\nc', 'a\nb\nc', 'old_text_not_found'],
    ['differs in case', 'abc', 'ABC', 'old_text_not_found'],
    ['is only composed differently', 'e\u0301', '\u00e9', 'old_text_not_found'],
  ])('changes nothing when the text %s', async (_, content, oldText, code) => {
    const filePath = fileWith(content);

    const outcome = await callTool('files_edit', { filePath, oldText, newText: 'new' });

    expect(outcome).toMatchObject({ ok: false, error: code, filePath, diagnostic: { code } });
    expect(readFileSync(filePath, 'utf8')).toBe(content);
  });

  it('refuses an empty text by name, whatever the file', async () => {
    for (const filePath of [fileWith('abc'), fileWith(''), '/nowhere']) {
      const outcome = await callTool('files_edit', { filePath, oldText: '', newText: 'new' });

      expect(outcome).toMatchObject({ ok: false, error: 'invalid_params', filePath });
      expect(outcome.diagnostic?.message).toMatch(/^Argument "arguments\.oldText" .* must not be empty/);
    }
  });

  it.each([
    ['a BOM and CRLF', '\ufeffa\r\nb\r\n', 'a\nb', 'a\nc', '\ufeffa\r\nc\r\n'],
    ['new lines in a CRLF file', 'a\r\nb\r\nc', 'a\nb', 'a\nx\ny\nb', 'a\r\nx\r\ny\r\nb\r\nc'],
    ['a CRLF part of a mixed file', 'x\ny\na\r\nb\r\nz\n', 'a\nb', 'a\nc', 'x\ny\na\r\nc\r\nz\n'],
    ['an LF part of a mixed file', 'x\r\na\nb\nz\r\n', 'a\nb', 'a\nc', 'x\r\na\nc\nz\r\n'],
    ['the literal match before the CRLF one', 'a\nb a\r\nb', 'a\nb', 'N\nM', 'N\nM a\r\nb'],
    ['CRLF given as CRLF', 'a\r\nb', 'a\r\nb', 'a\r\nc', 'a\r\nc'],
    ['CRLF already in the new text', 'a\r\nb', 'a\nb', 'a\r\nc\nd', 'a\r\nc\r\nd'],
    ['no final line feed', 'a\nb', 'b', 'c', 'a\nc'],
  ])('keeps the line ends: %s', async (_, content, oldText, newText, expected) => {
    const filePath = fileWith(content);

    expect((await callTool('files_edit', { filePath, oldText, newText })).error).toBeNull();
    expect(readFileSync(filePath, 'utf8')).toBe(expected);
  });

  it('leaves bytes that are not UTF-8 alone', async () => {
    const filePath = fileWith(Buffer.from('\xff\xfe a \x80', 'latin1'));

    await callTool('files_edit', { filePath, oldText: ' a ', newText: ' b ' });

    expect(readFileSync(filePath, 'latin1')).toBe('\xff\xfe b \x80');
  });

  it.each([
    ['oldText', { newText: 'a' }],
    ['newText', { oldText: 'a' }],
    ['newText', { oldText: 'a', newText: null }],
    ['oldText', { oldText: '\ud83d', newText: '' }],
  ])('refuses an unusable %s', async (name, texts) => {
    const outcome = await callTool('files_edit', { filePath: fileWith('a'), ...texts });

    expect(outcome.error).toBe('invalid_params');
    expect(outcome.diagnostic?.issues?.map(({ path }) => path)).toEqual([`arguments.${name}`]);
  });

  it.each([1024 * 1024, 1024 * 1024 - 3, 3 * 1024 * 1024 + 1])(
    'edits at offset %i of a large file',
    async (offset) => {
      const content = Buffer.alloc(4 * 1024 * 1024, 'abcdefg\n');
      content.write('NEEDLE', offset);
      const filePath = fileWith(content);

      await callTool('files_edit', { filePath, oldText: 'NEEDLE', newText: 'longer needle' });

      const expected = Buffer.concat([
        content.subarray(0, offset),
        Buffer.from('longer needle'),
        content.subarray(offset + 6),
      ]);
      expect(readFileSync(filePath).equals(expected)).toBe(true);
    },
  );

  it('needs no memory for the size of the file', async () => {
    const filePath = fileWith('');
    truncateSync(filePath, 64 * 1024 * 1024);
    writeFileSync(filePath, 'needle', { flag: 'a' });
    const before = process.memoryUsage().rss;

    const outcome = await callTool('files_edit', { filePath, oldText: 'needle', newText: 'found' });

    expect(outcome.ok).toBe(true);
    expect(statSync(filePath).size).toBe(64 * 1024 * 1024 + 5);
    expect(process.memoryUsage().rss - before).toBeLessThan(24 * 1024 * 1024);
  });

  it('edits through a symlink and keeps the mode', async () => {
    const filePath = fileWith('old');
    chmodSync(filePath, 0o640);
    symlinkSync('file', `${filePath}.link`);

    const outcome = await callTool('files_edit', {
      filePath: `${filePath}.link`,
      oldText: 'old',
      newText: 'new',
    });

    expect(outcome).toMatchObject({ ok: true, changedFiles: [`${filePath}.link`] });
    expect(readFileSync(filePath, 'utf8')).toBe('new');
    expect(statSync(filePath).mode & 0o7777).toBe(0o640);
    expect(readdirSync(join(filePath, '..')).sort()).toEqual(['file', 'file.link']);
  });

  it('lets edits of one file follow each other, so that none is lost', async () => {
    const filePath = fileWith(Array.from({ length: 30 }, (_, index) => `<${index}>`).join('\n'));

    const edits = Array.from({ length: 30 }, (_, index) =>
      callTool('files_edit', { filePath, oldText: `<${index}>`, newText: `[${index}]` }),
    );

    expect((await Promise.all(edits)).every(({ ok }) => ok)).toBe(true);
    expect(readFileSync(filePath, 'utf8')).toBe(
      Array.from({ length: 30 }, (_, index) => `[${index}]`).join('\n'),
    );
  });

  it('gives way to another program that changes the file during the edit', async () => {
    const filePath = fileWith('needle');
    truncateSync(filePath, 64 * 1024 * 1024);
    const directory = join(filePath, '..');
    const editing = callTool('files_edit', { filePath, oldText: 'needle', newText: 'lost' });
    while (readdirSync(directory).length === 1) await setImmediate();
    writeFileSync(filePath, 'theirs', { flag: 'a' });

    const outcome = await editing;

    expect(outcome).toMatchObject({ ok: false, error: 'EBUSY' });
    expect(statSync(filePath).size).toBe(64 * 1024 * 1024 + 6);
    expect(readdirSync(directory)).toEqual(['file']);
  });

  it.each([
    ['nowhere', 'ENOENT'],
    ['.', 'EISDIR'],
    ['/dev/zero', 'not_a_regular_file'],
  ])('fails on %s', async (name, code) => {
    const cwd = temporaryDirectory();

    const outcome = await callTool('files_edit', { filePath: name, oldText: 'a', newText: 'b' }, { cwd });

    expect(outcome).toMatchObject({ ok: false, error: code, filePath: name });
  });
});
