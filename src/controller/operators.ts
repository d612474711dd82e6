// The operator's side: the same lines as a gateway takes, with `target` naming the host a request is for; without it the
// controller itself is meant. It has the shape of a gateway, so any transport that serves one (the unix socket) serves it.

import type { Connection, Session } from '../gateway/connection.ts';
import { MAX_FRAME_BYTES, PROTOCOL_VERSION } from '../protocol/defaults.ts';
import { encodeFailure, encodeResult, type Frame } from '../protocol/envelopes.ts';
import { BurrowError, isBurrowError } from '../protocol/errors.ts';
import { parseRequest, type Request, recoverId } from '../protocol/request.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Administration } from './administration.ts';
import { createOperatorPace } from './operator-pace.ts';
import { type RelayDeps, type Relayed, relay } from './relay.ts';

const CONTROLLER_NAME = 'burrow-controller';

export interface OperatorsDeps extends RelayDeps {
  administration: Administration;
  clock: Clock;
  log: Log;
  version: string;
}

export interface Operators {
  connect(connection: Connection): Session;
  /** Refuses new requests from now on; those under way end when their gateway hangs up. */
  stop(): Promise<void>;
}

export function createOperators(deps: OperatorsDeps): Operators {
  const startedAtMs = deps.clock.monotonicMs();
  let isStopping = false;
  const health = (): object => ({
    status: isStopping ? 'stopping' : 'ok',
    activeOperations: deps.activity
      .all()
      .filter(({ status }) => status === 'running')
      .map(({ operationId }) => operationId),
    uptimeMs: Math.round(deps.clock.monotonicMs() - startedAtMs),
    gateways: { connected: deps.roster.size(), pending: deps.desk.all().length },
  });
  // Async throughout: what is thrown here must end a request that was counted as begun.
  const answerItself = async (request: Request): Promise<object> => {
    if (request.method === 'hello') return hello(deps.version);
    if (request.method === 'health') return health();
    if (request.method.startsWith('controller.')) return deps.administration(request.method, request.params);
    throw untargeted();
  };

  return {
    connect: (connection) =>
      createSession(connection, { ...deps, answerItself, isStopping: () => isStopping }),
    stop() {
      isStopping = true;
      return Promise.resolve();
    },
  };
}

interface SessionDeps extends OperatorsDeps {
  answerItself(request: Request): Promise<object>;
  isStopping(): boolean;
}

function createSession(connection: Connection, deps: SessionDeps): Session {
  const pace = createOperatorPace(deps.clock);
  const waiting = createCounter();
  const send = (frame: Frame): void => {
    pace.count(frame);
    connection.send(frame);
  };
  const fail = (idJson: string, error: unknown): void =>
    send(encodeFailure(idJson, asBurrowError(error, deps.log)));
  const relayTo = (request: Request, target: string): void => {
    let relayed: Relayed | undefined;
    const onEnd = (): void => {
      if (relayed !== undefined) pace.end(relayed);
      waiting.down();
    };
    relayed = relay({ request, target, send, onEnd }, deps);
    waiting.up();
    pace.begin(relayed);
  };
  const handle = (request: Request): void => {
    if (deps.isStopping()) throw new BurrowError('stopping');
    if (request.target !== undefined && request.target !== null) {
      return relayTo(request, checkTarget(request.target));
    }
    waiting.up();
    deps
      .answerItself(request)
      .then((result) => send(encodeResult(request.idJson, result)))
      .catch((error: unknown) => fail(request.idJson, error))
      .finally(waiting.down);
  };

  return {
    receive(line) {
      const parsed = parseRequest(line);
      if (parsed.status === 'invalid') return fail(parsed.idJson, parsed.error);
      try {
        handle(parsed.request);
      } catch (error) {
        fail(parsed.request.idJson, error);
      }
    },
    receiveOversized: (head) => fail(recoverId(head), new BurrowError('frame_too_large')),
    setSaturated: (saturated) => pace.setSaturated(saturated),
    idle: () => waiting.zero(),
  };
}

function checkTarget(target: unknown): string {
  if (typeof target === 'string' && target !== '') return target;
  throw new BurrowError('invalid_message', {
    issues: [{ path: 'target', message: 'Expected the id of a gateway' }],
  });
}

function untargeted(): BurrowError {
  return new BurrowError('invalid_message', {
    message: 'Request names no target: a controller runs nothing itself',
    issues: [{ path: 'target', message: 'Expected the id of a gateway' }],
  });
}

function hello(version: string): object {
  return {
    name: CONTROLLER_NAME,
    version,
    protocolVersion: PROTOCOL_VERSION,
    transport: 'unix-jsonl',
    maxFrameBytes: MAX_FRAME_BYTES,
  };
}

/** The unforeseen becomes `internal_error` here, as in the dispatcher of a gateway. */
function asBurrowError(error: unknown, log: Log): BurrowError {
  if (isBurrowError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  log.error(`internal_error: ${text}`);
  return new BurrowError('internal_error', { message: `Controller failed: ${text}` }, error);
}

interface Counter {
  up(): void;
  down(): void;
  /** Resolves at once, or when the count falls to zero. */
  zero(): Promise<void>;
}

function createCounter(): Counter {
  let count = 0;
  let watchers: (() => void)[] = [];
  return {
    up() {
      count += 1;
    },
    down() {
      count -= 1;
      if (count > 0) return;
      for (const watcher of watchers) watcher();
      watchers = [];
    },
    zero: () =>
      count === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            watchers.push(resolve);
          }),
  };
}
