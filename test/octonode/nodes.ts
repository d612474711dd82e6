// What the tests of the runner share: fixture commands, options, and the marks of a well-formed envelope.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAnswer, type RequestType } from '../../src/octonode/envelopes.ts';
import { createNodeDeps, type NodeCommand, type NodeProcessOptions } from '../../src/octonode/octonode.ts';
import { until as waitUntil } from '../until.ts';

export const NODES = new URL('../fixtures/nodes/', import.meta.url).pathname;
const HOST_ENTRY = new URL('host-entry.ts', import.meta.url).pathname;
const deps = createNodeDeps();

/** The scripted node with these steps; fixtures/nodes/scripted.pl names them. */
export function scripted(...steps: string[]): NodeCommand {
  return ['perl', `${NODES}scripted.pl`, ...steps];
}

/** A TypeScript or JavaScript file, run by the host from source. */
export function hosted(file: string): NodeCommand {
  return [process.execPath, HOST_ENTRY, file];
}

export function options(more: Partial<NodeProcessOptions> = {}): NodeProcessOptions {
  return { cwd: NODES, env: process.env as Record<string, string>, deps, ...more };
}

/** Fails the test when a language is missing: the machine that checks burrow has all seven. */
export function requireTool(name: string, debianPackage: string): string {
  const found = (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, name)));
  if (!found) throw new Error(`"${name}" is missing: install the Debian package ${debianPackage}`);
  return name;
}

/** Compiles a C fixture into a directory of its own. */
export function compileC(file: string): { program: string; directory: string } {
  requireTool('gcc', 'gcc libc6-dev');
  const directory = mkdtempSync(join(tmpdir(), 'octonode-c-'));
  const program = join(directory, 'node');
  execFileSync('gcc', ['-O2', '-o', program, file]);
  return { program, directory };
}

export function isValidEnvelope(envelope: unknown, type: RequestType): boolean {
  return parseAnswer(envelope, type).status === 'ok';
}

/** Open descriptors of this process. */
export function descriptorCount(): number {
  return readdirSync('/proc/self/fd').length;
}

/** How many handles would keep this process alive: children, pipes, timers. */
export function activeResources(): number {
  return process.getActiveResourcesInfo().filter((name) => /Process|Pipe|Timeout|Immediate/.test(name))
    .length;
}

export function until(condition: () => boolean, limitMs = 5_000): Promise<boolean> {
  return waitUntil(String(condition), condition, limitMs);
}
