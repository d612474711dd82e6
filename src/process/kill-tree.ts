// Ends a child and everything in its process group: SIGTERM, a grace period, SIGKILL, and a last moment after which it
// gives up on what left the group. It promises an end within KILL_GRACE_MS + KILL_SETTLE_MS and never signals a number
// that was already waited for without proof that the group still lives. What escaped into another session is left alone.

import { KILL_GRACE_MS, KILL_SETTLE_MS } from '../protocol/defaults.ts';
import type { Clock, Timer } from '../support/clock.ts';
import type { Child } from './launcher.ts';
import {
  createProcessGroups,
  type GroupRest,
  type ProcessGroups,
  readProcessTable,
} from './process-groups.ts';

/** A process closes its pipes a moment before it is dead, so the group is looked at again, at doubling distances. */
const FIRST_RECHECK_MS = 5;

export interface TerminationDeps {
  clock: Clock;
  groups: ProcessGroups;
}

export interface TerminationEvents {
  /** Once, after `start`: the group is gone or got SIGKILL, so what is still in the pipes is bounded. */
  onGroupGone(): void;
  /** Once, after `start`: leader waited for, pipes closed, group gone; or the time for that is up. */
  onDone(): void;
}

/** One per child. Its owner reports what it learns from the launcher; without a `start` nothing costs anything. */
export interface Termination {
  /** A signal was delivered. */
  readonly wasSignalled: boolean;
  /** SIGTERM to the group, without escalation. */
  terminate(): void;
  /** SIGTERM to the group now, SIGKILL after KILL_GRACE_MS, done after another KILL_SETTLE_MS at the latest. May be called again. */
  start(): void;
  /** After `start`: SIGKILL to the group now, not at the end of its grace. May be called again. */
  kill(): void;
  leaderExited(): void;
  pipesClosed(): void;
  /** Drops timers; no event follows. */
  close(): void;
}

/** The real ones; make them once per program, because terminations share a look at the process table. */
export function createTerminationDeps(clock: Clock): TerminationDeps {
  return { clock, groups: createProcessGroups({ clock, readProcessTable }) };
}

export function createTermination(
  child: Child,
  deps: TerminationDeps,
  events: TerminationEvents,
): Termination {
  return new GroupTermination(child, deps, events);
}

class GroupTermination implements Termination {
  wasSignalled = false;
  readonly #child: Child;
  readonly #deps: TerminationDeps;
  readonly #events: TerminationEvents;
  #hasLeaderExited = false;
  #havePipesClosed = false;
  #isStarted = false;
  #isGroupGone = false;
  #isGoneAnnounced = false;
  #isKilled = false;
  #isClosed = false;
  #deadline: Timer | null = null;
  #recheck: Timer | null = null;
  #recheckMs = FIRST_RECHECK_MS;

  constructor(child: Child, deps: TerminationDeps, events: TerminationEvents) {
    this.#child = child;
    this.#deps = deps;
    this.#events = events;
  }

  terminate(): void {
    // libuv waits for all ended children first and reports them one by one afterwards, so inside such a report another
    // child may be reaped without our knowing it. Once the turn is over all of them have been reported.
    setImmediate(() => this.#send('SIGTERM'));
  }

  start(): void {
    if (this.#isStarted || this.#isClosed) return;
    this.#isStarted = true;
    this.terminate();
    this.#deadline = this.#deps.clock.startTimer(KILL_GRACE_MS, () => this.#kill());
  }

  kill(): void {
    // Later, for the reason that `terminate` has, and after its signal.
    if (this.#isStarted) setImmediate(() => this.#kill());
  }

  leaderExited(): void {
    this.#hasLeaderExited = true;
    if (this.#isStarted) this.#look(null);
  }

  pipesClosed(): void {
    this.#havePipesClosed = true;
    if (!this.#isStarted) return;
    if (this.#isGroupGone) this.#finish();
    else if (this.#hasLeaderExited) this.#look(null);
  }

  close(): void {
    this.#isClosed = true;
    this.#deadline?.cancel();
    this.#recheck?.cancel();
  }

  #kill(): void {
    if (this.#isKilled || this.#isClosed) return;
    this.#isKilled = true;
    this.#deadline?.cancel();
    this.#recheckMs = FIRST_RECHECK_MS;
    this.#send('SIGKILL');
    this.#deadline = this.#deps.clock.startTimer(KILL_SETTLE_MS, () => this.#finish());
    if (!this.#hasLeaderExited) this.#announceGone();
  }

  #send(signal: NodeJS.Signals): void {
    if (this.#isClosed || this.#isGroupGone) return;
    if (this.#hasLeaderExited) this.#look(signal);
    else if (this.#child.signalGroup(signal)) this.wasSignalled = true;
  }

  #look(signal: NodeJS.Signals | null): void {
    if (this.#isGroupGone) return;
    this.#deps.groups.signalRest(this.#child.pid, signal, (rest) => this.#learn(rest, signal));
  }

  #learn(rest: GroupRest, signal: NodeJS.Signals | null): void {
    if (rest.wasSignalled) this.wasSignalled = true;
    if (this.#isClosed || !this.#isStarted || this.#isGroupGone) return;
    if (rest.isEmpty) this.#isGroupGone = true;
    if (rest.isEmpty || signal === 'SIGKILL') this.#announceGone();
    if (!rest.isEmpty) this.#lookAgain();
    else if (this.#havePipesClosed) this.#finish();
  }

  #lookAgain(): void {
    this.#recheck?.cancel();
    this.#recheck = this.#deps.clock.startTimer(this.#recheckMs, () => this.#look(null));
    this.#recheckMs *= 2;
  }

  #announceGone(): void {
    if (this.#isGoneAnnounced) return;
    this.#isGoneAnnounced = true;
    this.#events.onGroupGone();
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.close();
    this.#events.onDone();
  }
}
