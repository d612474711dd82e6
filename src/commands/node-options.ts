// What the `burrow node` commands share: inputs, durations, how the process of a node is run for a person at a terminal.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  createNodeDeps,
  type ManifestEnvelope,
  type NodeProcessOptions,
  type ResultEnvelope,
} from '../octonode/octonode.ts';
import { createChildEnvironment } from '../process/environment.ts';
import { parseDurationMs } from '../support/durations.ts';
import { type Call, UsageError } from './command.ts';
import { EXIT, type System } from './system.ts';

export function processOptions(system: System, cwd: string): NodeProcessOptions {
  return {
    cwd,
    env: createChildEnvironment(system.env)([]),
    onStderr: (chunk) => void system.stderr.write(chunk),
    onWarning: (sentence) => void system.stderr.write(`burrow: ${sentence}\n`),
    deps: createNodeDeps(),
  };
}

/** `--inputs`: JSON, `@FILE`, or `-` for stdin; `{}` without it. */
export async function readInputs({ flags, system }: Call): Promise<unknown> {
  const given = flags.inputs;
  if (typeof given !== 'string') return {};
  const source =
    given === '-'
      ? await text(system.stdin)
      : given.startsWith('@')
        ? readFile(resolve(system.cwd, given.slice(1)))
        : given;
  try {
    return JSON.parse(source);
  } catch {
    throw new UsageError(
      `Flag "--inputs" does not hold JSON: "${source.slice(0, 60)}"`,
      `Quote it for the shell: --inputs '{"name":"Ada"}'`,
    );
  }
}

export function durationFlag(flags: Call['flags'], name: string): number | undefined {
  const given = flags[name];
  if (typeof given !== 'string') return undefined;
  const parsed = parseDurationMs(given);
  if (parsed === undefined)
    throw new UsageError(`Flag "--${name}" takes a duration such as 500ms, 30s or 5m, not "${given}"`);
  return parsed;
}

export function countFlag(flags: Call['flags'], name: string, fallback: number): number {
  const given = flags[name];
  if (given === undefined) return fallback;
  const count = Number(given);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError(`Flag "--${name}" takes a positive integer, not "${String(given)}"`);
  return count;
}

/** An error on stderr, as `CODE: message`. */
export function reportFailure(envelope: ResultEnvelope | ManifestEnvelope, system: System): void {
  if (envelope.status === 'error') system.stderr.write(`${envelope.error.code}: ${envelope.error.message}\n`);
}

export function exitStatusOf(envelope: ResultEnvelope | ManifestEnvelope): number {
  if (envelope.status === 'ok') return EXIT.done;
  return envelope.error.code === 'TIMEOUT' ? EXIT.timedOut : EXIT.failed;
}

/** Runs `work` with a signal that Ctrl-C aborts; 130 when it was pressed. A second Ctrl-C ends at once. */
export async function interruptible(
  system: System,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const controller = new AbortController();
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<number>();
  const interrupt = (): void => {
    if (controller.signal.aborted) giveUp(EXIT.interrupted);
    controller.abort();
  };
  const releases = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    system.onSignal(signal, interrupt),
  );
  const status = await Promise.race([work(controller.signal), givenUp]);
  for (const release of releases) release();
  return controller.signal.aborted ? EXIT.interrupted : status;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(
      `Cannot read inputs from "${path}": ${error instanceof Error && 'code' in error ? String(error.code) : String(error)}`,
    );
  }
}
