// What happens between OpenTelemetry's exporter and the collector, seen from the agent that every request of it passes:
// the status, what was asked by Retry-After, how a connection failed, and a way to break off. The exporter itself tells
// none of this without the received texts, and waits for ever on a collector that sends one byte a second.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Clock } from '../support/clock.ts';

/** A collector has a few bytes to say. One that says more is cut off, which changes nothing of its status. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Of the request that was made last. */
export interface Sighting {
  /** Of the answer; undefined when none came. */
  status?: number;
  retryAfterMs?: number;
  /** Such as ECONNREFUSED, CERT_HAS_EXPIRED, HPE_INVALID_CONSTANT. */
  errorCode?: string;
}

export interface CollectorWatch {
  agent: HttpAgent;
  /** What was seen since the last call of `forget`. */
  seen(): Sighting;
  forget(): void;
  /** Ends the request that is under way and closes idle connections. */
  breakOff(): void;
}

export interface TlsFiles {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

export function watchCollector(deps: { clock: Clock }, endpoint: string, tls: TlsFiles): CollectorWatch {
  // A connection is kept for the next batch; idle ones do not keep the process alive.
  const agent = endpoint.startsWith('https:')
    ? new HttpsAgent({ keepAlive: true, ...tls })
    : new HttpAgent({ keepAlive: true });
  let sighting: Sighting = {};
  let current: ClientRequest | undefined;

  const watch = (request: ClientRequest): void => {
    const own: Sighting = {};
    sighting = own;
    current = request;
    request.once('response', (response: IncomingMessage) => {
      own.status = response.statusCode ?? 0;
      const retryAfterMs = parseRetryAfterMs(response.headers['retry-after'], deps.clock);
      if (retryAfterMs !== undefined) own.retryAfterMs = retryAfterMs;
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) request.destroy();
      });
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      own.errorCode = error.code ?? 'unknown';
    });
  };
  interceptRequests(agent, watch);
  return {
    agent,
    seen: () => sighting,
    forget() {
      sighting = {};
    },
    breakOff() {
      current?.destroy();
      agent.destroy();
    },
  };
}

/** `addRequest` is how a request finds its socket; agents that decide something by themselves have always overridden it. */
function interceptRequests(agent: HttpAgent, onRequest: (request: ClientRequest) => void): void {
  // Not in the published types.
  const open = agent as HttpAgent & { addRequest(request: ClientRequest, ...rest: unknown[]): void };
  const addRequest = open.addRequest;
  open.addRequest = (request, ...rest) => {
    onRequest(request);
    addRequest.call(agent, request, ...rest);
  };
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function parseRetryAfterMs(text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - clock.wallMs());
}
