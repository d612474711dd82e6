// What the engine needs to know to run a node, and how it is called in messages.

import { randomUUID } from 'node:crypto';
import { type Launch, launchWithNode } from '../process/launcher.ts';
import { createProcessGroups, type ProcessGroups, readProcessTable } from '../process/process-groups.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { DEFAULT_MAX_ANSWER_BYTES, DEFAULT_NODE_TIMEOUT_MS, MAX_LABEL_CHARACTERS } from './limits.ts';
import { createSchemaChecker, type SchemaChecker } from './schema-check.ts';

/** A program and its arguments, such as `['python3', 'nodes/greet.py']`. */
export type NodeCommand = readonly [file: string, ...args: string[]];

export interface NodeDeps {
  launch: Launch;
  clock: Clock;
  groups: ProcessGroups;
  createId: () => string;
  /** Compiles each schema once, however many calls share it. */
  schemas: SchemaChecker;
}

/** How the process of a node is started and watched. */
export interface NodeProcessOptions {
  cwd: string;
  /** The whole environment of the process. */
  env: Readonly<Record<string, string>>;
  /** Default 16 MiB; more ends the process and the call. */
  maxAnswerBytes?: number;
  /** The node's stderr as it comes; without it, stderr is read and dropped but for the tail that errors carry. */
  onStderr?: (chunk: Buffer) => void;
  /** One sentence about something that did not cost the answer, such as an exit status after it. */
  onWarning?: (sentence: string) => void;
  /** Hides secrets in what an error quotes of the node's output. */
  mask?: (text: string) => string;
  /** Default: the real ones, made for this call or worker alone; callers of many nodes hand in one set for all. */
  deps?: NodeDeps;
}

/** `NodeProcessOptions` with every default filled in. */
export type ProcessSettings = Required<Omit<NodeProcessOptions, 'deps'>> & {
  deps: NodeDeps;
  command: NodeCommand;
  label: string;
};

export function createNodeDeps(): NodeDeps {
  const groups = createProcessGroups({ clock: systemClock, readProcessTable });
  return {
    launch: launchWithNode,
    clock: systemClock,
    groups,
    createId: randomUUID,
    schemas: createSchemaChecker(),
  };
}

export function processSettings(command: NodeCommand, options: NodeProcessOptions): ProcessSettings {
  const mask = options.mask ?? ((text: string) => text);
  return {
    command,
    label: mask(labelOf(command)),
    cwd: options.cwd,
    env: options.env,
    maxAnswerBytes: options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES,
    onStderr: options.onStderr ?? ignore,
    onWarning: options.onWarning ?? ignore,
    mask,
    deps: options.deps ?? createNodeDeps(),
  };
}

/** Milliseconds until the earlier of the timeout (default 30 s) and the absolute deadline of the context. */
export function timeLeftMs(
  clock: Clock,
  timeoutMs: number | undefined,
  deadlineMs: number | undefined,
): number {
  const relativeMs = timeoutMs ?? DEFAULT_NODE_TIMEOUT_MS;
  return deadlineMs === undefined
    ? relativeMs
    : Math.max(0, Math.min(relativeMs, deadlineMs - clock.wallMs()));
}

function labelOf(command: NodeCommand): string {
  const text = command.join(' ');
  return text.length <= MAX_LABEL_CHARACTERS ? text : `${text.slice(0, MAX_LABEL_CHARACTERS - 1)}…`;
}

function ignore(): void {}
