// What a caller chooses about a worker, and what it can see of one.

import type { NodeProcessOptions } from './node-command.ts';

export interface WorkerOptions extends NodeProcessOptions {
  /** Most calls in flight; default 8. */
  concurrency?: number;
  /** Most calls that wait behind them; one more is refused, retryable. Default 10,000. */
  maxQueued?: number;
  /** The process ends this long after its last call; the next call starts another. Default 60 s. */
  idleMs?: number;
}

export interface WorkerStatus {
  state: 'idle' | 'running' | 'waiting_to_restart' | 'given_up' | 'closed';
  pid: number | undefined;
  inFlight: number;
  queued: number;
  /** Processes started so far. */
  starts: number;
  /** Deaths in a row without an answer; 5 give the worker up. */
  quickDeaths: number;
  /** Answers that came after their call was over. */
  lateAnswers: number;
}
