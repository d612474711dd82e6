// The two ends of a conversation as the gateway sees them: a function to send frames, and a session to feed lines.

import type { Frame } from '../protocol/envelopes.ts';

export type TransportName = 'stdio-jsonl' | 'unix-jsonl' | 'tls-jsonl-outbound';

/** What protected values are bound to: an authenticated connection, until it ends. */
export interface SecureContext {
  gatewayId: string;
  connectionId: string;
}

/** The far end of a session. */
export interface Connection {
  transport: TransportName;
  /** Longest frame this peer takes, newline included. */
  maxFrameBytes: number;
  /** Undefined while the peer has not proved who it is, and always on transports that do not ask. */
  readonly secure?: SecureContext | undefined;
  /** Queues one frame. May drop it when the peer is away; the host's work goes on. */
  send(frame: Frame): void;
}

/** The near end of a connection: where its lines go in. */
export interface Session {
  receive(line: Buffer): void;
  /** A line over the frame limit was skipped; `head` is its beginning. */
  receiveOversized(head: Buffer): void;
  /** While saturated, the operations of this session are held back by not reading their pipes. */
  setSaturated(saturated: boolean): void;
  /** Resolves when no operation of this session runs any more. */
  idle(): Promise<void>;
}
