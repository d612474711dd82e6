// Where nodes may be: what the project lists (commands, globs, files) and what stands under `nodes/` and looks like one.
// Nothing is started here. A file that a listed command names is not found a second time.

import { statSync } from 'node:fs';
import { glob, readdir } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import type { NodeCommand } from '../node-command.ts';
import { type ProjectSource, splitWords } from '../project/project.ts';
import { commandOfFile, isProgramName } from './file-command.ts';

const NODES_DIRECTORY = 'nodes';
/** Levels below `nodes/`; deeper files are not found on their own. */
const MAX_DEPTH = 8;
/** Programs of one project; more are not looked at, and the report says so. */
export const MAX_SOURCES = 10_000;
const GLOB = /[*?[{]/;
const SKIPPED_DIRECTORIES = new Set(['node_modules', '__pycache__']);
/** Tests and declarations stand beside nodes and are none. */
const NO_NODE = /\.(?:test|spec)\.[^.]+$|^test_|_test\.[^.]+$|\.d\.[mc]?ts$/;
/** Some file systems call every file executable. */
const DATA = new Set(['.json', '.jsonl', '.md', '.txt', '.yaml', '.yml', '.toml', '.csv', '.lock', '.log']);

export interface Source {
  /** What the report calls it. */
  name: string;
  command: NodeCommand;
  /** Relative to the project. */
  cwd?: string;
}

export interface Sources {
  sources: Source[];
  /** There were more than MAX_SOURCES. */
  isCut: boolean;
}

/** In the order of the list, then what was found by name. A source that begins with `!` takes files away. */
export async function collectSources(directory: string, listed: readonly ProjectSource[]): Promise<Sources> {
  const excluded = new Set<string>();
  const found: Source[] = [];
  for (const source of listed) {
    if (typeof source === 'string' && source.startsWith('!'))
      for (const file of await matches(directory, source.slice(1))) excluded.add(file);
  }
  for (const source of listed) found.push(...(await sourcesOf(directory, source)));
  const named = new Set(
    found.flatMap(({ command, cwd = '.' }) => command.map((word) => resolve(directory, cwd, word))),
  );
  for (const file of await findFiles(directory)) {
    const command = commandOfFile(join(directory, file), file);
    if (command !== undefined && !named.has(resolve(directory, file))) found.push({ name: file, command });
  }
  const unique = new Map(
    found
      .filter(({ name }) => !excluded.has(name))
      .map((source) => [JSON.stringify([source.command, source.cwd]), source]),
  );
  const sources = [...unique.values()];
  return { sources: sources.slice(0, MAX_SOURCES), isCut: sources.length > MAX_SOURCES };
}

async function sourcesOf(directory: string, source: ProjectSource): Promise<Source[]> {
  if (typeof source === 'object') {
    const { command, cwd } = Array.isArray(source) ? { command: source, cwd: undefined } : source;
    return asCommand(typeof command === 'string' ? splitWords(command) : command, cwd);
  }
  if (source.startsWith('!')) return [];
  if (isFile(join(directory, source))) return asFile(directory, source);
  if (/\s/.test(source.trim()) || !GLOB.test(source)) return asCommand(splitWords(source), undefined);
  return (await matches(directory, source)).flatMap((file) => asFile(directory, file));
}

function asCommand(words: readonly string[], cwd: string | undefined): Source[] {
  const [file, ...args] = words;
  if (file === undefined) return [];
  return [{ name: words.join(' '), command: [file, ...args], ...(cwd === undefined ? {} : { cwd }) }];
}

function asFile(directory: string, file: string): Source[] {
  const command = commandOfFile(join(directory, file), file);
  return command === undefined ? [] : [{ name: file, command }];
}

/** Files that match, sorted. */
async function matches(directory: string, pattern: string): Promise<string[]> {
  const files: string[] = [];
  const isSkipped = (entry: { name: string } | string): boolean =>
    SKIPPED_DIRECTORIES.has(typeof entry === 'string' ? basename(entry) : entry.name);
  for await (const file of glob(pattern, { cwd: directory, exclude: isSkipped })) {
    if (isFile(join(directory, file))) files.push(file);
    if (files.length > MAX_SOURCES) break;
  }
  return files.toSorted();
}

/** Under `nodes/`: known extensions, and executables that are no data. Hidden files and tests are left out. */
async function findFiles(directory: string): Promise<string[]> {
  const files: string[] = [];
  const visit = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || files.length > MAX_SOURCES) continue;
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && !SKIPPED_DIRECTORIES.has(entry.name)) await visit(path, depth + 1);
      } else if (looksLikeNode(directory, path)) files.push(path);
    }
  };
  await visit(NODES_DIRECTORY, 0);
  return files;
}

function looksLikeNode(directory: string, path: string): boolean {
  if (NO_NODE.test(basename(path)) || DATA.has(extname(path))) return false;
  const stats = statSync(join(directory, path), { throwIfNoEntry: false });
  return stats?.isFile() === true && (isProgramName(path) || (stats.mode & 0o111) !== 0);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
