// What the filesystem tests share: a tool call with real parts, and a directory of the test's own.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createFileWrites,
  type FilesystemOutcome,
  runFilesystemTool,
} from '../../src/filesystem/filesystem.ts';
import { systemClock } from '../../src/support/clock.ts';

export const isRoot = process.getuid?.() === 0;
const writes = createFileWrites();
const CHILD = resolve('test/fixtures/run-filesystem-tool.ts');

export function callTool(
  tool: string,
  toolArguments: unknown,
  options: { signal?: AbortSignal; cwd?: string; traversalEntries?: number } = {},
): Promise<FilesystemOutcome> {
  const { signal = new AbortController().signal, cwd = process.cwd(), traversalEntries } = options;
  const deps = { clock: systemClock, cwd, writes };
  return runFilesystemTool(
    { tool, arguments: toolArguments },
    signal,
    traversalEntries === undefined ? deps : { ...deps, traversalEntries },
  );
}

/** A directory that is gone when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'filesystem-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The same, open to every user. Not below the suite's own directory, which only its owner may enter. */
export function sharedDirectory(): string {
  const directory = mkdtempSync('/var/tmp/burrow-filesystem-');
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o777);
  return directory;
}

/** The command line of a process that runs one tool call and prints its outcome. */
export function childCommand(tool: string, toolArguments: unknown): string[] {
  return [process.execPath, CHILD, tool, JSON.stringify(toolArguments)];
}

/** One tool call in a process of its own that was started through `prefix`, for example `setpriv …`. */
export function callToolThrough(prefix: string[], tool: string, toolArguments: unknown): FilesystemOutcome {
  const [file = '', ...rest] = [...prefix, ...childCommand(tool, toolArguments)];
  return JSON.parse(execFileSync(file, rest, { encoding: 'utf8' })) as FilesystemOutcome;
}

/** Only for tests that run as root: the same call as an ordinary user. */
export function callToolAsUser(tool: string, toolArguments: unknown): FilesystemOutcome {
  const prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  return callToolThrough(prefix, tool, toolArguments);
}

/** A file of its own with this content. */
export function fileWith(content: string | Uint8Array): string {
  const filePath = join(temporaryDirectory(), 'file');
  writeFileSync(filePath, content);
  return filePath;
}
