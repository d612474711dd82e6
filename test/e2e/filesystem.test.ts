import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BURROW, type Daemon, type Envelope, startDaemon, temporaryDirectory, until } from './daemon.ts';

const isRoot = process.getuid?.() === 0;
const MEBIBYTE = 1024 * 1024;
/** The contract says 100 ms; the rest is for a machine that other tests keep busy. */
const CANCEL_LIMIT_MS = 100 + 150;

function callTool(daemon: Daemon, tool: string, toolArguments: object, id?: string): Promise<Envelope> {
  const operationId = id === undefined ? {} : { operationId: id };
  return daemon.ask('filesystem.execute', { ...operationId, tool, arguments: toolArguments });
}

/** Text at first, so that it is no binary file, then a hole that takes seconds to search. */
function makeEndlessFile(directory: string): void {
  const path = join(directory, 'endless.txt');
  writeFileSync(path, 'text\n'.repeat(2_000));
  truncateSync(path, 200 * 1024 * MEBIBYTE);
}

function temporaryFilesIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('.burrow-'));
}

describe('filesystem.execute', () => {
  it('is accepted, then answered, and knows all seven tools', async () => {
    const directory = temporaryDirectory();
    const daemon = startDaemon({ cwd: directory });

    const answers = [
      await callTool(daemon, 'files_write', { filePath: 'a/b.txt', content: 'one\ntwo\n' }),
      await callTool(daemon, 'files_edit', { filePath: 'a/b.txt', oldText: 'two', newText: '$&' }),
      await callTool(daemon, 'files_read', { filePath: 'a/b.txt' }),
      await callTool(daemon, 'files_inspect', { path: 'a' }),
      await callTool(daemon, 'files_list', { dirPath: '.' }),
      await callTool(daemon, 'files_find', { dirPath: '.', pattern: '**/*.txt' }),
      await callTool(daemon, 'files_search', { dirPath: '.', query: '$&' }),
    ];

    expect(answers.map(({ result }) => result.outcome)).toMatchObject([
      { ok: true, created: true, bytesWritten: 8 },
      { ok: true, replaced: 1 },
      { ok: true, content: 'one\n$&\n' },
      { ok: true, type: 'directory' },
      { ok: true, entries: [{ path: 'a' }, { path: 'a/b.txt' }] },
      { ok: true, paths: ['a/b.txt'] },
      { ok: true, matches: [{ filePath: 'a/b.txt', line: 2, text: '$&' }] },
    ]);
    expect(daemon.envelopes.map(({ type }) => type)).toEqual(answers.flatMap(() => ['accepted', 'response']));
  });

  it('replays across a restart and refuses another request under the same id', async () => {
    const directory = temporaryDirectory();
    const args = ['--state-dir', join(directory, 'state')];
    const file = { filePath: join(directory, 'f'), content: 'first' };
    const first = startDaemon({ args });
    const done = await callTool(first, 'files_write', file, 'w1');
    first.end();
    await first.ended;
    writeFileSync(file.filePath, 'changed since');

    const second = startDaemon({ args });
    const replayed = await callTool(second, 'files_write', file, 'w1');
    const conflict = await callTool(second, 'files_write', { ...file, content: 'other' }, 'w1');

    expect(replayed.result).toEqual({ ...done.result, replay: true });
    expect(conflict.error.code).toBe('operation_id_conflict');
    expect(readFileSync(file.filePath, 'utf8')).toBe('changed since');
  });

  it('ends a long search soon after its cancel, and answers others meanwhile', async () => {
    const directory = temporaryDirectory();
    makeEndlessFile(directory);
    const daemon = startDaemon();
    daemon.send({
      id: 's',
      method: 'filesystem.execute',
      params: { operationId: 'long', tool: 'files_search', arguments: { dirPath: directory, query: 'nope' } },
    });
    await daemon.waitFor('accepted', ({ type }) => type === 'accepted');
    const health = await daemon.ask('health');

    const start = performance.now();
    daemon.send({ id: 'c', method: 'cancel', params: { operationId: 'long' } });
    const answer = await daemon.answer('s');

    expect(performance.now() - start).toBeLessThan(CANCEL_LIMIT_MS);
    expect(health.result.activeOperations).toEqual(['long']);
    expect(answer.result.outcome).toMatchObject({ ok: false, error: 'cancelled', dirPath: directory });
    expect((await daemon.answer('c')).result).toEqual({ operationId: 'long', cancelling: true });
  });

  it.runIf(process.platform === 'linux')('answers a write below /proc and its cancel at once', async () => {
    const daemon = startDaemon();
    const written = callTool(daemon, 'files_write', { filePath: '/proc/nope/y', content: 'x' }, 'w');
    const cancelled = daemon.ask('cancel', { operationId: 'w' });

    const outcome = (await written).result.outcome;
    await cancelled;

    // Which of the two comes first is open.
    expect(outcome).toMatchObject({ ok: false, error: expect.stringMatching(/^(ENOENT|cancelled)$/) });
    expect((await daemon.ask('health')).result.activeOperations).toEqual([]);
    daemon.end();
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
  });

  it('ends, answers and keeps what runs when the daemon is stopped', async () => {
    const directory = temporaryDirectory();
    makeEndlessFile(directory);
    const args = ['--state-dir', join(directory, 'state')];
    const search = { dirPath: directory, query: 'nope' };
    const daemon = startDaemon({ args });
    const answered = callTool(daemon, 'files_search', search, 'long');
    await daemon.waitFor('accepted', ({ type }) => type === 'accepted');

    daemon.child.kill('SIGTERM');

    expect((await answered).result.outcome.error).toBe('cancelled');
    expect(await daemon.ended).toEqual({ code: 0, signal: null });
    const again = await callTool(startDaemon({ args }), 'files_search', search, 'long');
    expect(again.result).toMatchObject({ replay: true, outcome: { error: 'cancelled' } });
  });

  it('shortens a read of 3 MiB to a frame and says so', async () => {
    const filePath = join(temporaryDirectory(), 'large.txt');
    writeFileSync(filePath, 'Größe\n'.repeat((3 * MEBIBYTE) / 7));
    const daemon = startDaemon();

    const { result } = await callTool(daemon, 'files_read', { filePath, maxBytes: 3 * MEBIBYTE }, 'r');
    const replayed = await callTool(daemon, 'files_read', { filePath, maxBytes: 3 * MEBIBYTE }, 'r');

    const { content, returnedBytes, ...outcome } = result.outcome;
    expect(outcome).toMatchObject({
      ok: true,
      truncated: true,
      transportTruncated: true,
      incomplete: true,
      nextOffsetBytes: null,
    });
    expect(outcome).not.toHaveProperty('resultFingerprint');
    expect(Buffer.byteLength(content)).toBe(returnedBytes);
    expect(returnedBytes).toBeGreaterThan(1.5 * MEBIBYTE);
    expect(content.isWellFormed()).toBe(true);
    expect(readFileSync(filePath, 'utf8').startsWith(content)).toBe(true);
    expect(replayed.result).toEqual({ ...result, replay: true });
  });

  it('answers a list that fits no frame with an outcome, not with a part of it', async () => {
    const directory = temporaryDirectory();
    const long = 'x'.repeat(240);
    for (let parent = 0; parent < 12; parent += 1) {
      const path = join(directory, `${parent}-${long}`, long, long);
      mkdirSync(path, { recursive: true });
      for (let index = 0; index < 200; index += 1) writeFileSync(join(path, `${index}-${long}`), '');
    }
    const daemon = startDaemon();

    const { result } = await callTool(daemon, 'files_list', { dirPath: directory, maxEntries: 10_000 });

    expect(result.outcome).toMatchObject({
      ok: false,
      error: 'output_frame_too_large',
      dirPath: directory,
      diagnostic: { code: 'output_frame_too_large' },
    });
  });

  it('takes the budget of the host from its environment, unless the request has its own', async () => {
    const directory = temporaryDirectory();
    for (let index = 0; index < 5; index += 1) writeFileSync(join(directory, `${index}.txt`), 'word\n');
    const daemon = startDaemon({ env: { BURROW_FILESYSTEM_TRAVERSAL_ENTRIES: '3' } });

    const find = await callTool(daemon, 'files_find', { dirPath: directory });
    const search = await callTool(daemon, 'files_search', { dirPath: directory, query: 'word' });
    const own = await callTool(daemon, 'files_find', { dirPath: directory, maxTraversalEntries: 9 });

    expect(find.result.outcome).toMatchObject({ entryBudgetExhausted: true, incomplete: true });
    expect(find.result.outcome.paths).toHaveLength(3);
    expect(search.result.outcome.matches).toHaveLength(3);
    expect(own.result.outcome).toMatchObject({ entryBudgetExhausted: false, incomplete: false });
  });

  it('says on stderr that the budget makes no sense, and uses the default', async () => {
    const daemon = startDaemon({ env: { BURROW_FILESYSTEM_TRAVERSAL_ENTRIES: 'many' } });

    const find = await callTool(daemon, 'files_find', { dirPath: temporaryDirectory() });

    expect(find.result.outcome.ok).toBe(true);
    await until('the warning is there', () =>
      daemon.stderr().includes('BURROW_FILESYSTEM_TRAVERSAL_ENTRIES'),
    );
  });

  it('leaves one whole version after 50 writes of one file at once', async () => {
    const filePath = join(temporaryDirectory(), 'f');
    const versions = Array.from({ length: 50 }, (_, index) => `${index} `.repeat(20_000));
    const daemon = startDaemon();

    daemon.send(
      ...versions.map((content, id) => ({
        id,
        method: 'filesystem.execute',
        params: { tool: 'files_write', arguments: { filePath, content } },
      })),
    );
    const answers = await until('all are answered', () => {
      const responses = daemon.envelopes.filter(({ type }) => type === 'response');
      return responses.length === versions.length && responses;
    });

    expect(answers.every(({ result }) => result.outcome.ok === true)).toBe(true);
    expect(versions).toContain(readFileSync(filePath, 'utf8'));
    expect(temporaryFilesIn(join(filePath, '..'))).toEqual([]);
  });
});

describe('kill -9 in the middle of a write', () => {
  it('leaves the old file whole, and nothing beside it after the next start', async () => {
    const directory = temporaryDirectory();
    const filePath = join(directory, 'large.txt');
    writeFileSync(filePath, Buffer.alloc(100 * MEBIBYTE, 'line of text\n'));
    writeFileSync(filePath, 'needle', { flag: 'a' });
    const sizeBytes = statSync(filePath).size;
    const args = ['--state-dir', join(directory, 'state')];
    const daemon = startDaemon({ args });
    await daemon.ask('hello');
    daemon.send({
      id: 'e',
      method: 'filesystem.execute',
      params: { tool: 'files_edit', arguments: { filePath, oldText: 'needle', newText: 'pin' } },
    });

    await until('the new file is being written', () => temporaryFilesIn(directory).length > 0);
    daemon.child.kill('SIGKILL');
    await daemon.ended;

    expect(temporaryFilesIn(directory)).toHaveLength(1);
    expect(statSync(filePath).size).toBe(sizeBytes);
    expect(readFileSync(filePath).subarray(-6).toString()).toBe('needle');
    // No tool is called: the start alone is enough.
    const next = startDaemon({ args });
    await next.ask('hello');
    const records = (): string[] =>
      readdirSync(join(directory, 'state')).filter((name) => name.startsWith('burrow-write'));
    await until(
      'file and record are swept',
      () => [...temporaryFilesIn(directory), ...records()].length === 0,
    );
  });
});

describe.runIf(isRoot)('as another user', () => {
  function asNobody(directory: string): Daemon {
    const prefix = ['--reuid=65534', '--regid=65534', '--clear-groups', BURROW, 'daemon'];
    return startDaemon({ command: ['setpriv', ...prefix], env: { TMPDIR: directory }, cwd: '/' });
  }

  /** Not below the suite's own directory, which only its owner may enter. */
  function sharedDirectory(): string {
    const directory = mkdtempSync('/var/tmp/burrow-e2e-');
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    chmodSync(directory, 0o777);
    return directory;
  }

  it('may what that user may, and says EACCES for the rest', async () => {
    const directory = sharedDirectory();
    writeFileSync(join(directory, 'secret'), 'for root', { mode: 0o600 });
    mkdirSync(join(directory, 'closed'), { mode: 0o700 });
    const daemon = asNobody(directory);

    const read = await callTool(daemon, 'files_read', { filePath: join(directory, 'secret') });
    const list = await callTool(daemon, 'files_list', { dirPath: directory });
    const write = await callTool(daemon, 'files_write', { filePath: join(directory, 'own'), content: 'x' });
    const over = await callTool(daemon, 'files_write', { filePath: join(directory, 'secret'), content: 'x' });

    expect(read.result.outcome).toMatchObject({ ok: false, error: 'EACCES' });
    expect(list.result.outcome.warnings).toContain('unreadable_directory:closed:EACCES');
    expect(write.result.outcome.ok).toBe(true);
    expect(statSync(join(directory, 'own')).uid).toBe(65_534);
    expect(over.result.outcome).toMatchObject({ ok: false, error: 'EACCES' });
    expect(readFileSync(join(directory, 'secret'), 'utf8')).toBe('for root');
  });

  it('as root keeps the owner and the mode of what it replaces', async () => {
    const directory = sharedDirectory();
    const filePath = join(directory, 'theirs');
    writeFileSync(filePath, 'old');
    chownSync(filePath, 65_534, 65_534);
    chmodSync(filePath, 0o640);
    const daemon = startDaemon({ cwd: tmpdir() });

    await callTool(daemon, 'files_edit', { filePath, oldText: 'old', newText: 'new' });

    const { uid, gid, mode } = statSync(filePath);
    expect([uid, gid, mode & 0o7777]).toEqual([65_534, 65_534, 0o640]);
    expect(readFileSync(filePath, 'utf8')).toBe('new');
  });
});
