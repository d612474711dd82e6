// Runs a process in a test and collects what it tells, with the real parts unless others are handed in.

import {
  createProcessDeps,
  type ProcessDeps,
  type ProcessRequest,
  type RunningProcess,
  runProcess,
} from '../../src/process/process.ts';
import type { BurrowError } from '../../src/protocol/errors.ts';
import type { ProcessEvidence } from '../../src/protocol/evidence.ts';
import { systemClock } from '../../src/support/clock.ts';

export interface StreamPart {
  stream: 'stdout' | 'stderr';
  data: string;
  truncated: boolean;
}

export interface Run {
  process: RunningProcess;
  parts: StreamPart[];
  /** Names of the events in order. */
  order: string[];
  end: Promise<ProcessEvidence>;
  refused: Promise<BurrowError>;
  /** Resolves once the joined output of stdout holds the text. */
  saw(text: string): Promise<void>;
}

const deps: ProcessDeps = createProcessDeps(systemClock);

export function shell(command: string, options: Partial<ProcessRequest> = {}): ProcessRequest {
  return { ...base(), mode: 'shell', command, ...options };
}

export function exec(
  executable: string,
  args: string[] = [],
  options: Partial<ProcessRequest> = {},
): ProcessRequest {
  return { ...base(), mode: 'exec', executable, args, ...options };
}

export function run(request: ProcessRequest, own: Partial<ProcessDeps> = {}): Run {
  const parts: StreamPart[] = [];
  const order: string[] = [];
  const end = Promise.withResolvers<ProcessEvidence>();
  const refused = Promise.withResolvers<BurrowError>();
  let stdout = '';
  let waiting: { text: string; resolve: () => void } | null = null;
  const look = (): void => {
    if (waiting !== null && stdout.includes(waiting.text)) waiting.resolve();
  };
  const process = runProcess(
    request,
    {
      onStarted: () => order.push('started'),
      onStream({ stream, text, truncated }) {
        const part = { stream, data: text.text, truncated };
        order.push(part.stream);
        parts.push(part);
        if (part.stream === 'stdout' && stdout.length < 100_000) stdout += part.data;
        look();
      },
      onEnd(evidence) {
        order.push('end');
        end.resolve(evidence);
      },
      onRefused(error) {
        order.push('refused');
        refused.resolve(error);
      },
    },
    { ...deps, ...own },
  );
  const saw = (text: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = { text, resolve };
      look();
    });
  return { process, parts, order, end: end.promise, refused: refused.promise, saw };
}

function base(): ProcessRequest {
  const env: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return {
    mode: 'exec',
    executable: null,
    args: [],
    command: null,
    cwd: '/',
    env,
    timeoutMs: 10_000,
    deadlineMs: null,
    maxOutputBytes: 1024 * 1024,
  };
}
