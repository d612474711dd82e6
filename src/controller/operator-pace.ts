// Holds back the gateways that write for an operator who does not read. A gateway has one line for everybody, so it is only
// held when much is waiting, and not for long: an operator who still does not read is answered that its operations run on
// without it.

import type { Frame } from '../protocol/envelopes.ts';
import { BurrowError } from '../protocol/errors.ts';
import type { Clock, Timer } from '../support/clock.ts';
import { disconnected } from './calls.ts';
import type { Relayed } from './relay.ts';

/** Beyond what makes a reader slow; an operation with the default cap of output fits well. */
const MAX_AHEAD_BYTES = 16 * 1024 * 1024;
const HOLD_LIMIT_MS = 10_000;

export interface OperatorPace {
  begin(relayed: Relayed): void;
  end(relayed: Relayed): void;
  /** Counts a frame that goes to the operator. */
  count(frame: Frame): void;
  setSaturated(saturated: boolean): void;
}

export function createOperatorPace(clock: Clock): OperatorPace {
  const running = new Set<Relayed>();
  const held = new Set<Relayed['link']>();
  let isSaturated = false;
  let aheadBytes = 0;
  let limit: Timer | undefined;

  const release = (): void => {
    limit?.cancel();
    limit = undefined;
    for (const link of held) link.hold(false);
    held.clear();
  };
  const giveUp = (): void => {
    release();
    for (const { link, call } of [...running]) link.calls.abandon(call, unread(call.operationId));
    running.clear();
  };
  const hold = (): void => {
    for (const { link } of running) {
      if (!held.has(link)) link.hold(true);
      held.add(link);
    }
    limit ??= clock.startTimer(HOLD_LIMIT_MS, giveUp, { background: true });
  };

  return {
    begin(relayed) {
      running.add(relayed);
      if (limit !== undefined) hold();
    },
    end: (relayed) => void running.delete(relayed),
    count(frame) {
      if (!isSaturated) return;
      aheadBytes +=
        typeof frame === 'string' ? frame.length : frame.reduce((sum, part) => sum + part.length, 0);
      if (aheadBytes > MAX_AHEAD_BYTES) hold();
    },
    setSaturated(saturated) {
      isSaturated = saturated;
      aheadBytes = 0;
      if (!saturated) release();
    },
  };
}

function unread(operationId: string | undefined): BurrowError {
  const { code, details } = disconnected(operationId);
  return new BurrowError(code, {
    ...details,
    message: `Output was not read for ${HOLD_LIMIT_MS / 1_000} s; the operation runs on without its reader`,
    action: 'retry_same_operation_id',
  });
}
