// GatewayClient: requests and collected execution events over any channel. It gives each request an id of its own,
// brings each answer to the call that waits for it, and fails every waiting call with one reason when the channel ends.

import { parseReply, type Reply } from '../protocol/envelopes.ts';
import type { ErrorDetails } from '../protocol/errors.ts';
import type { Channel, OpenChannel } from './channel.ts';

export interface Refusal {
  /** A code of the error table, or one that a newer gateway knows. */
  code: string;
  message: string;
  details: ErrorDetails;
}

export type CallAnswer =
  | { status: 'ok'; result: Record<string, unknown> }
  | { status: 'refused'; error: Refusal }
  | Unreachable;

/** The channel ended first. Sending the same operation id again after a reconnect is safe. */
export interface Unreachable {
  status: 'unreachable';
  reason: string;
}

export interface StreamEvent {
  operationId: string;
  stream: 'stdout' | 'stderr';
  seq: number;
  data: string;
  truncated: boolean;
}

export interface ExecuteEvents {
  onAccepted?(operationId: string): void;
  onStream?(event: StreamEvent): void;
}

export interface GatewayClient {
  /** One request, one answer: hello, health, cancel, shutdown, telemetry.configure. */
  call(method: string, params?: Record<string, unknown>): Promise<CallAnswer>;
  /** `process.exec` or `filesystem.execute`: events as they come, then the answer with `result.outcome`. */
  execute(method: string, params: Record<string, unknown>, events?: ExecuteEvents): Promise<CallAnswer>;
  /** Holds the gateway's output back while the caller cannot take more. */
  pause(): void;
  resume(): void;
  /** Sends no more and resolves when the gateway has ended what runs. May be called twice. */
  close(): Promise<void>;
}

interface Waiting {
  events: ExecuteEvents;
  resolve(answer: CallAnswer): void;
  operationId?: string;
}

export function createGatewayClient(open: OpenChannel): GatewayClient {
  const waiting = new Map<string, Waiting>();
  const byOperation = new Map<string, Waiting>();
  let closedReason: string | undefined;
  let nextId = 1;

  const channel: Channel = open({
    onFrame(frame) {
      const parsed = parseReply(frame);
      // A frame of a kind that this client does not know belongs to a newer gateway: not ours to judge.
      if (parsed.status === 'reply') take(parsed.reply);
    },
    onClosed(reason) {
      closedReason = reason;
      for (const call of waiting.values()) call.resolve({ status: 'unreachable', reason });
      waiting.clear();
      byOperation.clear();
    },
  });

  const take = (reply: Reply): void => {
    switch (reply.type) {
      case 'process.stream':
        return byOperation.get(reply.operationId)?.events.onStream?.(reply);
      case 'process.terminal':
      case 'transport.error':
        // The response that follows carries the same outcome; a transport error is followed by the end of the channel.
        return;
      case 'accepted': {
        const call = waiting.get(String(reply.requestId));
        if (call === undefined) return;
        call.operationId = reply.operationId;
        byOperation.set(reply.operationId, call);
        return call.events.onAccepted?.(reply.operationId);
      }
      case 'response':
      case 'error':
        return finish(
          String(reply.requestId),
          reply.ok ? { status: 'ok', result: reply.result } : refused(reply.error),
        );
    }
  };

  const finish = (id: string, answer: CallAnswer): void => {
    const call = waiting.get(id);
    if (call === undefined) return;
    waiting.delete(id);
    if (call.operationId !== undefined) byOperation.delete(call.operationId);
    call.resolve(answer);
  };

  const execute: GatewayClient['execute'] = (method, params, events = {}) => {
    if (closedReason !== undefined) return Promise.resolve({ status: 'unreachable', reason: closedReason });
    const id = `c${nextId}`;
    nextId += 1;
    return new Promise((resolve) => {
      waiting.set(id, { events, resolve });
      channel.send(`${JSON.stringify({ id, method, params })}\n`);
    });
  };

  return {
    execute,
    call: (method, params = {}) => execute(method, params),
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    close: () => channel.close(),
  };
}

function refused(error: {
  code: string;
  message?: string | undefined;
  [field: string]: unknown;
}): CallAnswer {
  const { code, message, ...details } = error;
  return { status: 'refused', error: { code, message: message ?? code, details } };
}
