// The project file `.octonode`: found, read, checked, and changed without touching what a person wrote. Only signatures
// and first-time seeds are ever written; every other byte stays. A file with mistakes is told line by line, never guessed at.

import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { writeFileAtomic } from '../../support/atomic-file.ts';
import type { NodeCommand } from '../node-command.ts';
import { splitWords } from './command-words.ts';
import type { NodeEntry } from './project-schema.ts';
import { API_VERSION, type NodeSignature } from './project-schema.ts';
import { type ParsedProject, type ProjectProblem, parseProject } from './project-text.ts';

export { splitWords } from './command-words.ts';
export { editProject } from './edit-project.ts';
export { findProject, PROJECT_FILE } from './find-project.ts';
export type {
  NodeEntry,
  NodeRuntime,
  ProjectEnvironment,
  ProjectSource,
  Workflow,
  WorkflowEdge,
} from './project-schema.ts';
export { isNodeId } from './project-schema.ts';
export { type ParsedProject, type ProjectPath, type ProjectProblem, parseProject } from './project-text.ts';
export type { Json, JsonObject, NodeEdit } from './signature-map.ts';

const MAX_PROJECT_BYTES = 16 * 1024 * 1024;

export interface Project extends ParsedProject {
  path: string;
  directory: string;
}

export type LoadedProject =
  | { status: 'ok'; project: Project }
  | { status: 'invalid'; path: string; problems: ProjectProblem[] };

/** Throws the system's error when the file cannot be read; a file over 16 MiB is invalid. */
export async function loadProject(path: string): Promise<LoadedProject> {
  const { size } = await stat(path);
  if (size > MAX_PROJECT_BYTES) {
    const message = `File is larger than ${MAX_PROJECT_BYTES} bytes`;
    return { status: 'invalid', path, problems: [{ line: 1, column: 1, message }] };
  }
  const reading = await parseProject(await readFile(path, 'utf8'));
  if (reading.status === 'invalid') return { status: 'invalid', path, problems: reading.problems };
  return { status: 'ok', project: { ...reading.parsed, path, directory: dirname(path) } };
}

/** Replaces the file when the text differs, keeping its mode and, when it is a link, the link. Answers whether it wrote. */
export async function saveProject(path: string, text: string): Promise<boolean> {
  const target = await realpath(path).catch(() => path);
  const old = await readFile(target, 'utf8').catch(() => undefined);
  if (old === text) return false;
  const mode = old === undefined ? 0o644 : (await stat(target)).mode & 0o7777;
  await writeFileAtomic(target, text, { mode });
  return true;
}

/** The text of a project in which nothing was recorded yet. */
export function newProjectText(directory: string): string {
  const name = basename(directory) || 'project';
  return `apiVersion: ${API_VERSION}\nmetadata:\n  name: ${JSON.stringify(name)}\nnodes: []\n`;
}

/** The command of a signature as words; undefined when none is recorded. */
export function commandOf(signature: NodeSignature | null | undefined): NodeCommand | undefined {
  const command = signature?.command;
  const [file, ...args] = typeof command === 'string' ? splitWords(command) : (command ?? []);
  return file === undefined ? undefined : [file, ...args];
}

/** The entry that `name` means, and whether it names a method of it (`service.method`). */
export function findNode(entries: readonly NodeEntry[], name: string): NodeEntry | undefined {
  const whole = entries.find(({ id }) => id === name);
  if (whole !== undefined) return whole;
  const dot = name.lastIndexOf('.');
  const service = entries.find(({ id }) => dot > 0 && id === name.slice(0, dot));
  const methods = service?.signature?.service?.methods ?? [];
  return methods.some((method) => method.name === name.slice(dot + 1)) ? service : undefined;
}
