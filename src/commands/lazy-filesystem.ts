// The filesystem tools, loaded by the first call that needs them: a daemon answers `hello` without. Before the first tool
// runs, the temporary files of writes that were killed are removed; a daemon with a state directory does so soon after
// its start, whether a tool is called or not.

import type { FilesystemRequest } from '../filesystem/filesystem.ts';
import type { Log } from '../support/log.ts';
import type { System } from './system.ts';

/** After the start-up and the first answers, which should not wait for it. */
const SWEEP_DELAY_MS = 100;

type RunTool = (request: FilesystemRequest, signal: AbortSignal) => Promise<string>;

/** The function resolves to the outcome as JSON text. */
export function createLazyFilesystem(
  { system, log }: { system: System; log: Log },
  stateDirectory: string | undefined,
): RunTool {
  let loading: Promise<RunTool> | undefined;
  const load = (): Promise<RunTool> => {
    loading ??= loadTools(system, log, stateDirectory);
    return loading;
  };
  if (stateDirectory !== undefined) {
    system.clock.startTimer(SWEEP_DELAY_MS, () => void load(), { background: true });
  }
  return async (request, signal) => (await load())(request, signal);
}

async function loadTools(system: System, log: Log, stateDirectory: string | undefined): Promise<RunTool> {
  const { createFileWrites, runFilesystemToolEncoded } = await import('../filesystem/filesystem.ts');
  const writes = createFileWrites(stateDirectory === undefined ? {} : { recordsDirectory: stateDirectory });
  const removed = await writes.sweep();
  if (removed > 0) log.info(`Removed ${removed} temporary files of interrupted writes`);
  const deps = {
    clock: system.clock,
    // Asked for by relative paths alone.
    get cwd() {
      return system.cwd;
    },
    writes,
    ...traversalEntries(system, log),
  };
  return async (request, signal) => (await runFilesystemToolEncoded(request, signal, deps)).json;
}

function traversalEntries(system: System, log: Log): { traversalEntries?: number } {
  const text = system.env['BURROW_FILESYSTEM_TRAVERSAL_ENTRIES'] ?? '';
  if (text === '') return {};
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return { traversalEntries: count };
  log.warn(`BURROW_FILESYSTEM_TRAVERSAL_ENTRIES is no positive whole number: "${text}"; using the default`);
  return {};
}
