// Runs one process and tells what happened. Promises: `onStarted` first, then the output as it comes, then exactly one end
// with evidence, or one refusal alone; an end within timeout, grace and settle time whatever the child does; memory bounded
// whatever it writes. The first reason to stop is kept. It never waits for background processes longer than the linger
// rules say, never signals a number that may be a stranger's, and never interprets a command.

import { hostname } from 'node:os';
import type { Clock } from '../support/clock.ts';
import { createTerminationDeps } from './kill-tree.ts';
import { type Launch, launchWithNode } from './launcher.ts';
import { createLingeringChildren } from './lingering.ts';
import {
  type ProcessDeps,
  type ProcessEvents,
  type ProcessRequest,
  ProcessRun,
  type RunningProcess,
} from './process-run.ts';

export type { ByteFilter } from './capture.ts';
export { type ChildEnvironment, createChildEnvironment, type EnvironmentEntry } from './environment.ts';
export type { OutputStream } from './launcher.ts';
export { createRedaction, type Redaction } from './redaction.ts';
export type { ProcessDeps, ProcessEvents, ProcessRequest, RunningProcess };

/** The real ones; make them once per daemon, because processes share a look at the process table and the linger bound. */
export function createProcessDeps(clock: Clock, launch: Launch = launchWithNode): ProcessDeps {
  return {
    ...createTerminationDeps(clock),
    launch,
    identity: { uid: process.geteuid?.() ?? null, gid: process.getegid?.() ?? null, hostname },
    lingering: createLingeringChildren(),
  };
}

/** Starts the process. `onStarted` may come before this returns, every other event comes later. */
export function runProcess(
  request: ProcessRequest,
  events: ProcessEvents,
  deps: ProcessDeps,
): RunningProcess {
  const run = new ProcessRun(request, events, deps);
  run.start();
  return run;
}
