// One connection to the controller, from the first packet to the end: TCP, TLS, proof, then lines both ways. Each stage has
// its own limit, whatever trickles in; only an operator's approval is waited for without one. It promises exactly one end with
// one reason, and that no line reaches the gateway before the controller said `auth.ok`.

import { connect, type TLSSocket } from 'node:tls';
import { isAuthMessage } from '../../protocol/auth.ts';
import { encodeTransportError, type Frame } from '../../protocol/envelopes.ts';
import { BurrowError } from '../../protocol/errors.ts';
import type { Clock, Timer } from '../../support/clock.ts';
import { createFrameWriter, type FrameWriter } from '../frame-writer.ts';
import { createRequestIntake, type RequestIntake } from '../request-intake.ts';
import { type Authentication, type AuthStep, createAuthentication, readLastWord } from './authentication.ts';
import type { ControllerAddress } from './controller-url.ts';
import { KEEPALIVE_AFTER_MS, type PeerWatch, readKernelDelivery, watchPeer } from './peer-watch.ts';
import type { TlsMaterial } from './tls-files.ts';
import { describeTlsError, type EndReason, identifyPeer, tlsOptions, tlsProblem } from './tls-peer.ts';
import type { Credentials, Pins } from './trust.ts';

const STAGE_LIMIT_MS = 10_000;
/** For the last word to reach a peer that does not hang up itself. */
const CLOSE_LIMIT_MS = 1_000;
/** A controller that keeps asking before it authenticates is not waited for. */
const MAX_EARLY_REQUESTS = 64;

export interface AttemptOptions {
  address: ControllerAddress;
  gatewayId: string;
  version: string;
  credentials: Credentials;
  material: TlsMaterial;
}

export interface PendingPairing {
  pairingCode: string;
  /** The controller shows another code. */
  differs: boolean;
  tlsFingerprint: string | undefined;
}

export interface AttemptEvents {
  /** Once at most: an operator of the controller has to approve. */
  onPending(pairing: PendingPairing): void;
  onEarlyRequest(): void;
  onAuthenticated(connectionId: string, seen: Pins): void;
  /** The controller showed its certificate, verified or not. */
  onCertificate(expiresAtMs: number): void;
  onLine(line: Buffer): void;
  onSaturated(saturated: boolean): void;
  /** Once, last. */
  onEnd(reason: EndReason): void;
}

export class Attempt {
  readonly #options: AttemptOptions;
  readonly #events: AttemptEvents;
  readonly #clock: Clock;
  readonly #socket: TLSSocket;
  readonly #writer: FrameWriter;
  readonly #intake: RequestIntake;
  readonly #authentication: Authentication;
  readonly #watch: PeerWatch;
  #stage: Timer | undefined;
  #phase: 'opening' | 'authenticating' | 'ready' | 'ending' = 'opening';
  #reason: EndReason | undefined;
  #tlsFingerprint: string | undefined;
  #earlyRequests = 0;
  #isPending = false;

  constructor(options: AttemptOptions, events: AttemptEvents, clock: Clock) {
    this.#options = options;
    this.#events = events;
    this.#clock = clock;
    this.#authentication = createAuthentication(options);
    this.#socket = connect(tlsOptions(options));
    this.#writer = createFrameWriter(this.#socket, {
      onSaturated: (saturated) => events.onSaturated(saturated),
      // At its end nothing is answered, and what comes is read and dropped.
      onOverfull: (overfull) => this.#phase === 'ending' || this.#intake.hold(overfull),
    });
    // Before the intake takes the end for that of a last line: what has no line end was cut off.
    this.#socket.once('end', () => {
      this.#phase = 'ending';
    });
    this.#intake = createRequestIntake(
      this.#socket,
      {
        receive: (line) => this.#receive(line),
        receiveOversized: () => this.#break(new BurrowError('frame_too_large')),
      },
      () => {},
    );
    this.#watch = watchPeer(
      this.#socket,
      () => this.#abort({ code: 'ETIMEDOUT', message: 'the controller does not acknowledge what is sent' }),
      { clock, readDelivery: readKernelDelivery },
    );
    this.#listen();
    this.#limit('TCP connection');
  }

  send(frame: Frame): void {
    if (this.#phase === 'ready') this.#writer.send(frame);
  }

  flushed(): Promise<void> {
    return this.#phase === 'ready' ? this.#writer.flushed() : Promise.resolve();
  }

  /** Ends it: at once before authentication, after what was sent otherwise. */
  close(): void {
    this.#reason ??= { code: 'closed', message: 'closed by this gateway' };
    if (this.#phase === 'ready') this.#finish();
    else this.#socket.destroy();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('connect', () => {
      // Not before: a socket that is opened later takes the time for keepalive from elsewhere.
      socket.setKeepAlive(true, KEEPALIVE_AFTER_MS);
      socket.setNoDelay(true);
      this.#limit('TLS handshake');
    });
    socket.on('secureConnect', () => this.#secure());
    socket.on('error', (error) => this.#abort(describeTlsError(error, this.#options.address)));
    socket.on('close', () => {
      this.#stage?.cancel();
      this.#watch.close();
      this.#phase = 'ending';
      this.#events.onEnd(this.#reason ?? { code: 'ECONNRESET', message: 'the controller hung up' });
    });
  }

  #secure(): void {
    const peer = identifyPeer(this.#socket);
    if (peer !== undefined) this.#events.onCertificate(peer.expiresAtMs);
    const problem = tlsProblem(peer, this.#options.credentials);
    if (problem !== undefined) return this.#break(problem);
    this.#tlsFingerprint = peer?.fingerprint;
    this.#phase = 'authenticating';
    this.#limit('challenge');
  }

  #receive(line: Buffer): void {
    if (this.#phase === 'ready') {
      if (isAuthMessage(line)) return this.#break(new BurrowError('unexpected_auth_message'));
      const lastWord = readLastWord(line);
      if (lastWord !== undefined) return this.#part(lastWord, 'ended the connection');
      return this.#events.onLine(line);
    }
    if (this.#phase === 'authenticating') this.#follow(this.#authentication.receive(line));
  }

  #follow(step: AuthStep): void {
    switch (step.status) {
      case 'answered':
        this.#limit('answer to the proof');
        return this.#writer.send(step.frame);
      case 'pending':
        return this.#pend(step.pairingCode, step.differs);
      case 'unauthenticated':
        return this.#refuseEarly(step.frame);
      case 'authenticated':
        this.#stage?.cancel();
        this.#phase = 'ready';
        return this.#events.onAuthenticated(step.connectionId, {
          controllerPublicKey: step.controllerPublicKey,
          tlsFingerprint: this.#tlsFingerprint,
        });
      case 'refused':
        return this.#part(step, 'refused');
      case 'broken':
        return this.#break(step.error);
    }
  }

  #pend(pairingCode: string, differs: boolean): void {
    // Said again it says nothing new.
    if (this.#isPending) return;
    this.#isPending = true;
    this.#stage?.cancel();
    this.#events.onPending({ pairingCode, differs, tlsFingerprint: this.#tlsFingerprint });
  }

  #refuseEarly(frame: string): void {
    this.#earlyRequests += 1;
    if (this.#earlyRequests > MAX_EARLY_REQUESTS) return this.#break(new BurrowError('unauthenticated'));
    if (this.#earlyRequests === 1) this.#events.onEarlyRequest();
    this.#writer.send(frame);
  }

  #limit(stage: string): void {
    this.#stage?.cancel();
    this.#stage = this.#clock.startTimer(STAGE_LIMIT_MS, () =>
      this.#abort({ code: 'ETIMEDOUT', message: `no ${stage} within ${STAGE_LIMIT_MS / 1_000} s` }),
    );
  }

  /** The controller said why it hangs up. */
  #part({ code, message }: EndReason, what: string): void {
    this.#reason ??= { code, message: `the controller ${what}: ${message || code}` };
    this.#finish();
  }

  /** Says why, then hangs up. */
  #break(error: BurrowError): void {
    if (this.#reason !== undefined) return;
    this.#reason = { code: error.code, message: error.message };
    this.#writer.send(encodeTransportError(error));
    this.#finish();
  }

  /** What the peer still sends is read and dropped: unread bytes would turn the end into a reset, which eats the last word. */
  #finish(): void {
    this.#phase = 'ending';
    this.#stage?.cancel();
    this.#stage = this.#clock.startTimer(CLOSE_LIMIT_MS, () => this.#socket.destroy());
    void this.#writer.flushed().then(() => this.#socket.end());
    this.#intake.hold(false);
  }

  #abort(reason: EndReason): void {
    this.#reason ??= reason;
    this.#socket.destroy();
  }
}
