// One connection from a gateway: challenge, answer, perhaps a wait for an operator, then requests out and answers in, until
// it ends. Before `auth.ok` a peer has ten seconds, 64 KiB and exactly one line; whatever it says besides is the end of it.
// Promises one end with one reason, and that nothing is asked of a gateway that has not proved who it is.

import type { TLSSocket } from 'node:tls';
import {
  type AuthResponse,
  encodeAuthMessage,
  isAuthMessage,
  MAX_AUTH_LINE_BYTES,
  parseAuthMessage,
} from '../protocol/auth.ts';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { encodeTransportError } from '../protocol/envelopes.ts';
import { BurrowError, isBurrowError } from '../protocol/errors.ts';
import { createLineSplitter, type LineSplitter } from '../protocol/json-lines.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { Clock, Timer } from '../support/clock.ts';
import { createFrameWriter, type FrameWriter } from '../transport/frame-writer.ts';
import { type Calls, createCalls } from './calls.ts';

/** For the last word to reach a peer that does not hang up itself. */
const CLOSE_LIMIT_MS = 1_000;
const KEEPALIVE_AFTER_MS = 15_000;

export interface LinkOptions {
  nonce: string;
  controllerPublicKey: string;
  authLimitMs: number;
  clock: Clock;
}

export interface LinkEvents {
  /** The answer to the challenge. Decided by `admit`, `pend` or `refuse`, at once or later. */
  onResponse(link: Link, response: AuthResponse): void;
  /** Once, last. */
  onEnd(link: Link, reason: EndReason): void;
}

export interface EndReason {
  code: string;
  message: string;
}

export class Link {
  readonly address: string;
  readonly calls: Calls = createCalls(loadCrypto().randomBytes(6).toString('hex'));
  /** Set by `admit`. */
  connectionId: string | undefined;
  /** What the gateway says it is; for people. */
  gatewayVersion: string | undefined;
  readonly #socket: TLSSocket;
  readonly #events: LinkEvents;
  readonly #clock: Clock;
  readonly #writer: FrameWriter;
  #lines: LineSplitter;
  #timer: Timer | undefined;
  #phase: 'challenged' | 'answered' | 'ready' | 'ending' = 'challenged';
  #reason: EndReason | undefined;
  #isClogged = false;
  #holders = 0;

  constructor(socket: TLSSocket, options: LinkOptions, events: LinkEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#clock = options.clock;
    this.address = `${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`;
    this.#writer = createFrameWriter(socket, {
      onSaturated: () => {},
      onOverfull: (overfull) => {
        this.#isClogged = overfull;
      },
    });
    this.#lines = this.#splitter(MAX_AUTH_LINE_BYTES);
    this.#timer = this.#clock.startTimer(options.authLimitMs, () =>
      this.end({ code: 'ETIMEDOUT', message: `no answer to the challenge within ${options.authLimitMs} ms` }),
    );
    this.#listen();
    const { nonce, controllerPublicKey } = options;
    this.#writer.send(encodeAuthMessage({ type: 'auth.challenge', nonce, controllerPublicKey }));
  }

  /** Ready for requests. */
  admit(connectionId: string): void {
    if (this.#phase !== 'answered') return;
    this.#phase = 'ready';
    this.#timer?.cancel();
    this.#timer = undefined;
    this.connectionId = connectionId;
    this.#lines = this.#splitter(MAX_FRAME_BYTES);
    this.#writer.send(encodeAuthMessage({ type: 'auth.ok', connectionId }));
  }

  /** Waits for an operator, without a limit. */
  pend(pairingCode: string): void {
    if (this.#phase !== 'answered') return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writer.send(encodeAuthMessage({ type: 'pairing.pending', pairingCode }));
  }

  /** Says why, then hangs up. */
  refuse(error: BurrowError): void {
    if (this.#phase === 'ending') return;
    this.#reason ??= { code: error.code, message: error.message };
    this.#writer.send(encodeTransportError(error));
    this.#finish();
  }

  /** Hangs up without a word. */
  end(reason: EndReason): void {
    this.#reason ??= reason;
    this.#socket.destroy();
  }

  /** Hangs up after what was sent. */
  close(reason: EndReason): void {
    this.#reason ??= reason;
    this.#finish();
  }

  send(frame: string): void {
    if (this.#phase === 'ready') this.#writer.send(frame);
  }

  /** So much waits for a gateway that does not read that no request should be added. */
  isClogged(): boolean {
    return this.#isClogged;
  }

  isReady(): boolean {
    return this.#phase === 'ready';
  }

  /** While anybody holds, nothing is read from the gateway. */
  hold(held: boolean): void {
    this.#holders += held ? 1 : -1;
    if (this.#holders > 0) this.#socket.pause();
    else this.#socket.resume();
  }

  isHeld(): boolean {
    return this.#holders > 0;
  }

  bytesRead(): number {
    return this.#socket.bytesRead;
  }

  #splitter(maxLineBytes: number): LineSplitter {
    return createLineSplitter({
      maxLineBytes,
      onLine: (line) => this.#receive(line),
      onOversized: () =>
        this.refuse(
          new BurrowError('frame_too_large', { message: `Line is over the limit of ${maxLineBytes} bytes` }),
        ),
    });
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEPALIVE_AFTER_MS);
    socket.on('data', (chunk: Buffer) => {
      if (this.#phase !== 'ending') this.#lines.push(chunk);
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.end({ code: error.code ?? 'TLS', message: 'the connection broke' }),
    );
    socket.once('close', () => {
      this.#timer?.cancel();
      this.#phase = 'ending';
      this.calls.lose();
      this.#events.onEnd(this, this.#reason ?? { code: 'ECONNRESET', message: 'the gateway hung up' });
    });
  }

  #receive(line: Buffer): void {
    if (this.#phase === 'ending') return;
    if (this.#phase === 'ready') return this.#receiveFrame(line);
    const parsed = parseAuthMessage(line);
    if (parsed.status === 'invalid') {
      return this.refuse(new BurrowError('invalid_auth_message', { message: parsed.reason }));
    }
    if (parsed.status === 'other') return this.refuse(new BurrowError('unauthenticated'));
    if (parsed.message.type !== 'auth.response' || this.#phase !== 'challenged') {
      return this.refuse(new BurrowError('unexpected_auth_message'));
    }
    this.#phase = 'answered';
    const response = parsed.message;
    this.gatewayVersion = response.gateway?.version?.slice(0, 100);
    // After the rest of this chunk: a line that was sent along did not wait for `auth.ok`.
    queueMicrotask(() => {
      if (this.#phase === 'answered') this.#events.onResponse(this, response);
    });
  }

  #receiveFrame(line: Buffer): void {
    if (isAuthMessage(line)) return this.refuse(new BurrowError('unexpected_auth_message'));
    try {
      this.calls.receive(line);
    } catch (error) {
      if (!isBurrowError(error)) throw error;
      this.refuse(error);
    }
  }

  /** What the peer still sends is read and dropped: unread bytes would turn the end into a reset, which eats the last word. */
  #finish(): void {
    if (this.#phase === 'ending') return;
    this.#phase = 'ending';
    this.#timer?.cancel();
    this.#timer = this.#clock.startTimer(CLOSE_LIMIT_MS, () => this.#socket.destroy(), { background: true });
    void this.#writer.flushed().then(() => this.#socket.end());
    this.#socket.resume();
    this.calls.lose();
  }
}
