// What happens between OpenTelemetry's exporter and the collector, seen from the agent that its requests pass: the status,
// what Retry-After asked for, how a connection failed, and a way to break off. The exporter itself tells none of this
// without the received texts, repeats a request for seconds before it says so, and waits for ever on a collector that
// sends one byte a second.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import type { Clock } from '../support/clock.ts';

/** A collector has a few bytes to say. One that says more is cut off, which changes nothing of its status. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface Sighting {
  /** Of the answer; undefined when none came. */
  status?: number;
  retryAfterMs?: number;
  /** Such as ECONNREFUSED, CERT_HAS_EXPIRED, HPE_INVALID_CONSTANT. */
  errorCode?: string;
}

/** One request. A second one, by which the exporter would repeat it, is not let through: the queue does that. */
export interface Attempt {
  agent: HttpAgent;
  seen: Readonly<Sighting>;
  /** Resolves when the request has failed: at the status line, or at the end of the connection. */
  failed: Promise<void>;
  breakOff(): void;
}

export interface TlsFiles {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

export interface CollectorLine {
  startAttempt(): Attempt;
  /** Closes connections, idle or not. */
  close(): void;
}

/** Redirects are not followed; certificates are verified. */
export function openCollectorLine(deps: { clock: Clock }, endpoint: string, tls: TlsFiles): CollectorLine {
  // A connection is kept for the next batch; idle ones do not keep the process alive.
  const shared = endpoint.startsWith('https:')
    ? new (loadHttps().Agent)({ keepAlive: true, ...tls })
    : new HttpAgent({ keepAlive: true });
  return { startAttempt: () => startAttempt(shared, deps.clock), close: () => shared.destroy() };
}

/** With TLS and its certificates: only for who needs it. */
function loadHttps(): typeof import('node:https') {
  return process.getBuiltinModule('node:https');
}

/** `addRequest` is how a request finds its socket; agents with a mind of their own have always overridden it. Not in the published types. */
type OpenAgent = HttpAgent & { addRequest(request: ClientRequest, ...rest: unknown[]): void };

function startAttempt(shared: HttpAgent, clock: Clock): Attempt {
  const seen: Sighting = {};
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
  let first: ClientRequest | undefined;
  // Everything but addRequest is the shared agent's.
  const agent = Object.create(shared) as OpenAgent;
  agent.addRequest = (request, ...rest) => {
    if (first !== undefined) return refuse(request);
    first = request;
    watchRequest(request, { seen, fail, clock });
    (shared as OpenAgent).addRequest(request, ...rest);
  };
  return { agent, seen, failed, breakOff: () => void first?.destroy() };
}

/** Without the code that a connection error has, so that the exporter leaves it at that. */
function refuse(request: ClientRequest): void {
  request.destroy(new Error('Not repeated'));
  // A request reports its end when it is told its socket, and this one gets none.
  request.onSocket(null as never);
}

function watchRequest(
  request: ClientRequest,
  { seen, fail, clock }: { seen: Sighting; fail: () => void; clock: Clock },
): void {
  request.once('response', (response: IncomingMessage) => {
    seen.status = response.statusCode ?? 0;
    const retryAfterMs = parseRetryAfterMs(response.headers['retry-after'], clock);
    if (retryAfterMs !== undefined) seen.retryAfterMs = retryAfterMs;
    if (seen.status > 299) fail();
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) request.destroy();
    });
  });
  request.once('error', (error: NodeJS.ErrnoException) => {
    seen.errorCode = error.code ?? 'unknown';
    fail();
  });
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function parseRetryAfterMs(text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - clock.wallMs());
}
