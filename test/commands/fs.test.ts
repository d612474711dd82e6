import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../src/commands/cli.ts';
import { treeLines } from '../../src/commands/fs-list.ts';
import { systemClock } from '../../src/support/clock.ts';

interface Ran {
  status: number;
  stdout: Buffer;
  text: string;
  stderr: string;
}

interface RunOptions {
  cwd?: string;
  stdin?: Buffer | string;
  terminal?: boolean;
  env?: Record<string, string>;
}

async function run(args: string[], options: RunOptions = {}): Promise<Ran> {
  const stdout = collector(options.terminal === true);
  const stderr = collector(false);
  const status = await runCli(args, {
    env: options.env ?? {},
    cwd: options.cwd ?? '/',
    stdin: Readable.from([Buffer.from(options.stdin ?? '')]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    clock: systemClock,
    abandonStdout() {},
    onSignal: () => () => {},
  });
  const bytes = stdout.bytes();
  return { status, stdout: bytes, text: bytes.toString(), stderr: stderr.bytes().toString() };
}

function collector(isTTY: boolean) {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), bytes: () => Buffer.concat(chunks) };
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'burrow-fs-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Every byte value, many times: no text in any encoding. */
const BINARY = Buffer.from(Array.from({ length: 700_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff));

describe('burrow fs read', () => {
  it.each([
    ['a binary file of several pages', BINARY],
    ['text with a character across the pages', Buffer.from(`x${'€'.repeat(150_000)}`)],
    ['an empty file', Buffer.alloc(0)],
  ])('prints %s byte for byte', async (_name, bytes) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), bytes);

    const ran = await run(['fs', 'read', 'f'], { cwd: directory });

    expect(ran.stdout.equals(bytes)).toBe(true);
    expect(ran).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['base64', (text: string) => Buffer.from(text, 'base64')],
    ['hex', (text: string) => Buffer.from(text, 'hex')],
    ['latin1', (text: string) => Buffer.from(text, 'latin1')],
  ])('prints one text of all pages in %s', async (encoding, decode) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), BINARY);

    const ran = await run(['fs', 'read', 'f', '--encoding', encoding], { cwd: directory });

    expect(decode(ran.text).equals(BINARY)).toBe(true);
  });

  it.each([
    [['--offset', '2', '--max', '3'], 2, 5],
    [['--offset', '0', '--max', '300KiB'], 0, 300 * 1024],
    [['--offset', '650000'], 650_000, BINARY.length],
    [['--offset', '1MiB'], 0, 0],
  ])('prints the part that %j asks for', async (flags, from, to) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), BINARY);

    const ran = await run(['fs', 'read', 'f', ...flags], { cwd: directory });

    expect(ran.stdout.equals(BINARY.subarray(from, to))).toBe(true);
  });

  it('prints the outcome of one page with --json', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), 'hello');

    const ran = await run(['fs', 'read', 'f', '--json', '--max', '2'], { cwd: directory });

    expect(JSON.parse(ran.text)).toMatchObject({ tool: 'files_read', content: 'he', nextOffsetBytes: 2 });
  });

  it('reads files that have no size, such as those of /proc', async () => {
    expect((await run(['fs', 'read', '/proc/version'])).text).toBe(readFileSync('/proc/version', 'utf8'));
  });

  it('exits 1 with code and message when the tool fails', async () => {
    const ran = await run(['fs', 'read', 'nope'], { cwd: '/srv' });

    expect(ran).toMatchObject({ status: 1, text: '' });
    expect(ran.stderr).toMatch(/^burrow: Tool files_read failed on "\/srv\/nope": .*\(ENOENT\)\n$/);
  });

  it('exits 2 for an argument that the tool refuses', async () => {
    const ran = await run(['fs', 'read', '']);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain('(invalid_params)');
  });

  it.each([
    [['--encoding', 'utf16'], 'takes utf8, base64, latin1, hex'],
    [['--max', 'much'], 'takes a size'],
    [['--offset=1.5'], 'takes a size in whole bytes'],
  ])('refuses %j', async (flags, text) => {
    const ran = await run(['fs', 'read', 'f', ...flags]);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(text);
  });
});

describe('burrow fs inspect', () => {
  it('prints one aligned field a line', async () => {
    const directory = temporaryDirectory();
    symlinkSync('target', join(directory, 'link'));

    const ran = await run(['fs', 'inspect', 'link'], { cwd: directory });

    expect(ran.text).toMatch(
      /^path {6}.*\/link\nexists {4}yes\ntype {6}symlink\nsize {6}6 B\nmodified {2}\S+Z\ntarget {4}target\n$/,
    );
  });

  it('answers a missing path with exit 0', async () => {
    expect(await run(['fs', 'inspect', '/nope'])).toMatchObject({
      status: 0,
      text: 'path    /nope\nexists  no\n',
    });
  });
});

describe('burrow fs list', () => {
  it('prints a tree, and what it left out on stderr', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'a/b/c/d'), { recursive: true });
    writeFileSync(join(directory, 'a/x.txt'), '');
    symlinkSync('a', join(directory, 'z'));

    const ran = await run(['fs', 'list', '.', '--depth', '2'], { cwd: directory });

    expect(ran.text).toBe(
      [directory, '├── a/', '│   ├── b/', '│   │   └── c/', '│   └── x.txt', '└── z@', ''].join('\n'),
    );
    expect(ran.stderr).toMatch(/^burrow: Depth limit of 2 reached/);
    expect(ran.status).toBe(0);
  });
});

describe('treeLines()', () => {
  it('marks what is neither file, directory nor link', () => {
    expect(treeLines([{ path: 'fifo', type: 'other' }], (name) => name)).toBe('└── fifo (special)\n');
  });
});

describe('burrow fs find', () => {
  it('prints matching paths, one a line', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'src'));
    for (const name of ['src/a.ts', 'src/b.js', '[id].ts']) writeFileSync(join(directory, name), '');

    expect((await run(['fs', 'find', '.', '**/*.ts'], { cwd: directory })).text).toBe('[id].ts\nsrc/a.ts\n');
    expect((await run(['fs', 'find', '.', '[id].ts'], { cwd: directory })).text).toBe('[id].ts\n');
  });

  it('shows the control characters of a name on a terminal instead of obeying them', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'a\u001b[2Jb'), '');

    expect((await run(['fs', 'find', directory, '*'], { terminal: true })).text).toBe('a\\x1b[2Jb\n');
    expect((await run(['fs', 'find', directory, '*'])).text).toBe('a\u001b[2Jb\n');
  });
});

describe('burrow fs search', () => {
  async function search(options: RunOptions, ...args: string[]): Promise<Ran> {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f.txt'), 'one\n$& two $&\n-77 three\n');
    return run(['fs', 'search', directory, ...args], options);
  }

  it('prints path:line: text', async () => {
    expect((await search({}, '$&')).text).toBe('f.txt:2: $& two $&\n');
  });

  it('takes a query that begins with a dash behind --', async () => {
    expect((await search({}, '--', '-77')).text).toBe('f.txt:3: -77 three\n');
  });

  it('colours each match on a terminal', async () => {
    const red = '\u001b[1;31m$&\u001b[0m';
    expect((await search({ terminal: true }, '$&')).text).toBe(`f.txt:2: ${red} two ${red}\n`);
  });

  it.each([
    ['NO_COLOR', { terminal: true, env: { NO_COLOR: '1' } }, []],
    ['--no-color', { terminal: true }, ['--no-color']],
  ])('colours nothing with %s', async (_name, options, flags) => {
    expect((await search(options, '$&', ...flags)).text).toBe('f.txt:2: $& two $&\n');
  });

  it('says on stderr which bound was hit', async () => {
    const ran = await search({}, 'o', '--max-matches', '1');
    expect(ran.text).toBe('f.txt:1: one\n');
    expect(ran.stderr).toContain('limit of 1');
  });

  it('exits 0 when nothing is found', async () => {
    expect(await search({}, 'absent')).toMatchObject({ status: 0, text: '', stderr: '' });
  });

  it('exits 1 for an empty query, 2 without one', async () => {
    expect(await search({}, '')).toMatchObject({ status: 1 });
    expect(await search({})).toMatchObject({ status: 2 });
  });
});

describe('burrow fs write', () => {
  it('writes stdin, directories included', async () => {
    const directory = temporaryDirectory();

    const created = await run(['fs', 'write', 'a/f'], { cwd: directory, stdin: '\ufeffGröße\r\n' });
    const replaced = await run(['fs', 'write', 'a/f', '--content', ''], { cwd: directory });

    expect(created).toMatchObject({ status: 0, text: `Created ${directory}/a/f: 12 B\n` });
    expect(replaced).toMatchObject({ status: 0, text: `Replaced ${directory}/a/f: 0 B\n` });
    expect(readFileSync(join(directory, 'a/f'), 'utf8')).toBe('');
  });

  it('keeps every byte of the text', async () => {
    const directory = temporaryDirectory();
    const text = '\ufeffa\r\nb\0€ no final newline';

    await run(['fs', 'write', 'f'], { cwd: directory, stdin: text });

    expect(readFileSync(join(directory, 'f')).equals(Buffer.from(text))).toBe(true);
  });

  it('refuses bytes that are not UTF-8 and writes nothing', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), 'old');

    const ran = await run(['fs', 'write', 'f'], { cwd: directory, stdin: Buffer.from([0x61, 0xff]) });

    expect(ran).toMatchObject({ status: 1, text: '' });
    expect(ran.stderr).toContain('not UTF-8');
    expect(readFileSync(join(directory, 'f'), 'utf8')).toBe('old');
  });
});

describe('burrow fs edit', () => {
  it('replaces the one place, literally', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), 'a\r\nPLACE\r\n');

    const ran = await run(['fs', 'edit', 'f', '--old', 'PLACE', '--new', "$& $' $$ $1"], { cwd: directory });

    expect(ran.status).toBe(0);
    expect(readFileSync(join(directory, 'f'), 'utf8')).toBe("a\r\n$& $' $$ $1\r\n");
  });

  it('exits 1 with the code when the text is not unique, and prints the outcome with --json', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'f'), 'xx');

    const ran = await run(['fs', 'edit', 'f', '--old', 'x', '--new', 'y', '--json'], { cwd: directory });

    expect(ran.status).toBe(1);
    expect(JSON.parse(ran.text)).toMatchObject({ ok: false, error: 'old_text_not_unique' });
    expect(ran.stderr).toContain('(old_text_not_unique)');
  });

  it('needs both texts', async () => {
    expect(await run(['fs', 'edit', 'f', '--old', 'x'])).toMatchObject({ status: 2 });
  });
});

describe('--help', () => {
  it.each(['read', 'inspect', 'list', 'find', 'search', 'write', 'edit'])(
    'of burrow fs %s shows two examples',
    async (verb) => {
      const ran = await run(['fs', verb, '--help']);

      expect(ran.status).toBe(0);
      expect(ran.text.split('EXAMPLES')[1]?.match(/^ {2}burrow fs /gm)).toHaveLength(2);
    },
  );
});

describe('burrow client fs', () => {
  it('prints every envelope as a JSON line', async () => {
    const ran = await run(['client', 'fs', 'files_inspect', '{"path":"/"}']);

    const envelopes = ran.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(envelopes).toMatchObject([
      { type: 'accepted' },
      { type: 'response', ok: true, result: { outcome: { tool: 'files_inspect', type: 'directory' } } },
    ]);
    expect(ran.status).toBe(0);
  });

  it('refuses arguments that are no JSON object', async () => {
    expect(await run(['client', 'fs', 'files_inspect', '[]'])).toMatchObject({ status: 2 });
  });
});
