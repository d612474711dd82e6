// The seven filesystem tools of `filesystem.execute` (spec/gateway.md §7). A request always becomes an outcome: a tool
// that fails is an outcome with `ok:false`, a code and a sentence. Files are replaced whole or left as they were, nothing
// waits on a FIFO or a device, and memory stays bounded whatever the size of a file or a tree.
// It never sends, journals or shortens an outcome; that is the gateway's work.

import { getSystemErrorMap } from 'node:util';
import { ERRORS, isBurrowError } from '../protocol/errors.ts';
import { type EncodedField, sealFileOutcome } from '../protocol/file-outcome.ts';
import type { Clock } from '../support/clock.ts';
import { positiveInteger } from './arguments.ts';
import { errnoOf } from './errno.ts';
import { filesEdit } from './files-edit.ts';
import { filesFind } from './files-find.ts';
import { filesInspect } from './files-inspect.ts';
import { filesList } from './files-list.ts';
import { filesRead } from './files-read.ts';
import { filesSearch } from './files-search.ts';
import { filesWrite } from './files-write.ts';
import { createFileWrites, type FileWrites } from './replace/replace.ts';
import type { Tool, ToolAnswer, ToolContext } from './tool.ts';

export { createFileWrites, type FileWrites } from './replace/replace.ts';

const TOOLS: Readonly<Record<string, Tool>> = {
  files_read: filesRead,
  files_inspect: filesInspect,
  files_list: filesList,
  files_find: filesFind,
  files_search: filesSearch,
  files_write: filesWrite,
  files_edit: filesEdit,
};

export const FILESYSTEM_TOOLS: readonly string[] = Object.keys(TOOLS);

export interface FilesystemRequest {
  tool: string;
  arguments: unknown;
}

export interface FilesystemDeps {
  clock: Clock;
  /** Relative paths of the arguments resolve here. It is read for those alone, and may throw a BurrowError. */
  readonly cwd: string;
  /** The host's budget of entries for find and search (BURROW_FILESYSTEM_TRAVERSAL_ENTRIES); not positive means 4,000. */
  traversalEntries?: number;
  /**
   * Shared by all calls of one daemon, so that two edits of one file follow each other and a killed daemon's temporary
   * files are found at the next start. Absent: each call stands alone.
   */
  writes?: FileWrites;
}

/** The wire object of one tool run, in full. The tool's own fields stand between `ok` and `error`. */
export interface FilesystemOutcome {
  tool: string;
  ok: boolean;
  error: string | null;
  warnings: string[];
  artifacts: null;
  /** Milliseconds on the monotonic clock. */
  durationMs: number;
  /** First 16 hex of sha256 over the JSON text of all fields that stand before it. */
  resultFingerprint: string;
  execution: { kind: 'gateway'; protocolMethod: 'filesystem.execute' };
  diagnostic?: Diagnostic;
  [field: string]: unknown;
}

export interface Diagnostic {
  code: string;
  message: string;
  issues?: readonly { path: string; message: string }[];
}

/**
 * The outcome of one tool run; never rejects. An abort of `signal` is answered as `cancelled` within 100 ms, unless the
 * work was already done. Codes: errno names, the filesystem area of the error table, `invalid_params`,
 * `output_frame_too_large` and, for what nobody foresaw, `internal_error`.
 */
export async function runFilesystemTool(
  request: FilesystemRequest,
  signal: AbortSignal,
  deps: FilesystemDeps,
): Promise<FilesystemOutcome> {
  return (await runFilesystemToolEncoded(request, signal, deps)).outcome;
}

/** The same, with the outcome's JSON text: it was written for the fingerprint and need not be written again. */
export async function runFilesystemToolEncoded(
  request: FilesystemRequest,
  signal: AbortSignal,
  deps: FilesystemDeps,
): Promise<{ outcome: FilesystemOutcome; json: string }> {
  const startedMs = deps.clock.monotonicMs();
  const { body, encoded } = await runToBody(request, {
    clock: deps.clock,
    signal,
    get cwd() {
      return deps.cwd;
    },
    traversalEntries: positiveInteger(deps.traversalEntries),
    writes: deps.writes ?? createFileWrites(),
  });
  const durationMs = Math.round(deps.clock.monotonicMs() - startedMs);
  return sealFileOutcome({ ...body, durationMs }, encoded);
}

type OutcomeBody = Omit<FilesystemOutcome, 'durationMs' | 'resultFingerprint' | 'execution'> & {
  tool: string;
  ok: boolean;
  error: string | null;
  warnings: string[];
  artifacts: null;
};

interface ToolEnd {
  body: OutcomeBody;
  encoded?: EncodedField | undefined;
}

async function runToBody(request: FilesystemRequest, context: ToolContext): Promise<ToolEnd> {
  const tool = Object.hasOwn(TOOLS, request.tool) ? TOOLS[request.tool] : undefined;
  if (tool === undefined) return { body: failed(request, 'dirPath', unsupported(request.tool)) };
  try {
    context.signal.throwIfAborted();
    const answer = await tool.run(request.arguments, context);
    return { body: succeeded(request.tool, answer), encoded: answer.encoded };
  } catch (error) {
    return { body: failed(request, tool.pathArgument, diagnose(error, request, context)) };
  }
}

function succeeded(tool: string, answer: ToolAnswer): OutcomeBody {
  return { tool, ok: true, ...answer.fields, error: null, warnings: answer.warnings, artifacts: null };
}

function failed(
  request: FilesystemRequest,
  pathArgument: Tool['pathArgument'],
  diagnostic: Diagnostic,
): OutcomeBody {
  return {
    tool: request.tool,
    ok: false,
    [pathArgument]: givenText(request.arguments, pathArgument),
    error: diagnostic.code,
    diagnostic,
    warnings: [],
    artifacts: null,
  };
}

function unsupported(tool: string): Diagnostic {
  const message = `Filesystem tool "${tool.slice(0, 100).toWellFormed()}" is not known: use ${FILESYSTEM_TOOLS.join(', ')}`;
  return { code: 'native_filesystem_tool_unsupported', message };
}

function diagnose(error: unknown, request: FilesystemRequest, context: ToolContext): Diagnostic {
  if (isBurrowError(error)) {
    const { message, code, details } = error;
    return details.issues === undefined ? { code, message } : { code, message, issues: details.issues };
  }
  if (context.signal.aborted && error === context.signal.reason) {
    return { code: 'cancelled', message: ERRORS.cancelled.message };
  }
  const code = errnoOf(error);
  if (code === undefined) return { code: 'internal_error', message: ERRORS.internal_error.message };
  const path = Object.entries({ filePath: 0, path: 0, dirPath: 0 })
    .map(([name]) => givenText(request.arguments, name))
    .find((given) => given !== null);
  return {
    code,
    message: `Tool ${request.tool} failed on "${path ?? ''}": ${systemReason(error as Error, code)}`,
  };
}

/** The system's own sentence for an errno, or ours when the failure was found before the system was asked. */
function systemReason(error: Error, code: string): string {
  const known = [...getSystemErrorMap().values()].find(([name]) => name === code);
  const ours = 'syscall' in error ? undefined : error.message;
  return ours ?? (known === undefined ? code : `${known[1]} (${code})`);
}

function givenText(toolArguments: unknown, name: string): string | null {
  if (typeof toolArguments !== 'object' || toolArguments === null || !Object.hasOwn(toolArguments, name))
    return null;
  const given = Object.getOwnPropertyDescriptor(toolArguments, name)?.value as unknown;
  return typeof given === 'string' ? given : null;
}
