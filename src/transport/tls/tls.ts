// The gateway dialled out to its controller: one session for as long as the daemon lives, over one TLS connection after
// another. It promises to come back for ever, spread out in time; to take work only from a controller that both ends have
// authenticated; and that host work goes on while the line is down, when what it says is dropped and the journal keeps outcomes.

import type { Connection, SecureContext, Session } from '../../gateway/connection.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { MAX_TLS_FRAME_BYTES } from '../../protocol/defaults.ts';
import type { Clock, Timer } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import { Attempt, type PendingPairing } from './attempt.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { type CertificateHealth, describeCertificate } from './certificate-health.ts';
import type { ControllerAddress } from './controller-url.ts';
import { messageOf } from './state-files.ts';
import type { CertificateExpiry, TlsFiles } from './tls-files.ts';
import type { EndReason } from './tls-peer.ts';
import type { Credentials, Pins, Trust } from './trust.ts';

export { type ControllerAddress, parseControllerUrl } from './controller-url.ts';
export { openTlsFiles, type TlsFilePaths, type TlsFiles } from './tls-files.ts';
export { openTrust, type Trust } from './trust.ts';

const OWNERS = { ca: 'the authority', gateway: 'this gateway', controller: 'the controller' } as const;

export interface ControllerLinkOptions {
  address: ControllerAddress;
  gatewayId: string;
  version: string;
  trust: Trust;
  files: TlsFiles;
}

export interface ControllerLinkDeps {
  clock: Clock;
  log: Log;
  /** From 0 to 1. */
  random: () => number;
}

export interface LinkHealth {
  /** False when a certificate runs out within 14 days. */
  ok: boolean;
  controller: {
    url: string;
    state: 'connecting' | 'pairing' | 'connected' | 'waiting';
    /** Why the last connection ended or was not made. */
    lastError?: string;
  };
  certificates: CertificateHealth[];
}

export interface ControllerLink {
  health(): LinkHealth;
  /** Resolves when every frame sent so far left, or the line is down. */
  flushed(): Promise<void>;
  /** Hangs up and does not come back. May be called twice. */
  close(): Promise<void>;
}

export function connectToController(
  gateway: Gateway,
  options: ControllerLinkOptions,
  deps: ControllerLinkDeps,
): ControllerLink {
  return new Link(gateway, options, deps);
}

class Link implements ControllerLink {
  readonly #options: ControllerLinkOptions;
  readonly #deps: ControllerLinkDeps;
  readonly #session: Session;
  readonly #backoff: Backoff;
  readonly #ended = Promise.withResolvers<void>();
  #attempt: Attempt | undefined;
  #secure: SecureContext | undefined;
  #state: LinkHealth['controller']['state'] = 'connecting';
  #lastError: string | undefined;
  #expiries: readonly CertificateExpiry[] = [];
  #controllerExpiry: CertificateExpiry | undefined;
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(gateway: Gateway, options: ControllerLinkOptions, deps: ControllerLinkDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#backoff = createBackoff(deps.random);
    this.#session = gateway.connect(this.#connection());
    void this.#open();
  }

  health(): LinkHealth {
    const expiries = [
      ...this.#expiries,
      ...(this.#controllerExpiry === undefined ? [] : [this.#controllerExpiry]),
    ];
    const nowMs = this.#deps.clock.wallMs();
    const certificates = expiries.map((expiry) => describeCertificate(expiry, nowMs));
    return {
      ok: certificates.every(({ state }) => state === 'ok'),
      controller: {
        url: this.#options.address.text,
        state: this.#state,
        ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      },
      certificates,
    };
  }

  flushed(): Promise<void> {
    return this.#attempt?.flushed() ?? Promise.resolve();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    if (this.#attempt === undefined) this.#ended.resolve();
    else this.#attempt.close();
    return this.#ended.promise;
  }

  /** The far end of the one session: whichever connection is authenticated, or nobody. */
  #connection(): Connection {
    const secure = (): SecureContext | undefined => this.#secure;
    const send: Connection['send'] = (frame) => {
      if (this.#secure !== undefined) this.#attempt?.send(frame);
    };
    return {
      transport: 'tls-jsonl-outbound',
      maxFrameBytes: MAX_TLS_FRAME_BYTES,
      get secure() {
        return secure();
      },
      send,
    };
  }

  async #open(): Promise<void> {
    const { trust, files } = this.#options;
    this.#state = 'connecting';
    try {
      const credentials = await trust.credentials();
      if (this.#isClosed) return this.#ended.resolve();
      const material = files.read();
      this.#expiries = material.expiries;
      this.#start(credentials, material);
    } catch (error) {
      this.#tryAgain({ code: 'configuration', message: messageOf(error) });
    }
  }

  #start(credentials: Credentials, material: ReturnType<TlsFiles['read']>): void {
    const { log, clock } = this.#deps;
    this.#attempt = new Attempt(
      { ...this.#options, credentials, material },
      {
        onPending: (pairing) => this.#pending(pairing),
        onEarlyRequest: () => log.warn('Request before authentication was refused (unauthenticated)'),
        onAuthenticated: (connectionId, seen) => this.#authenticated({ connectionId, seen, credentials }),
        onCertificate: (expiresAtMs) => {
          this.#controllerExpiry = { certificate: 'controller', expiresAtMs };
        },
        onLine: (line) => this.#session.receive(line),
        onSaturated: (saturated) => this.#session.setSaturated(saturated),
        onEnd: (reason) => this.#lost(reason),
      },
      clock,
    );
  }

  #pending({ pairingCode, differs, tlsFingerprint = 'none' }: PendingPairing): void {
    const { log } = this.#deps;
    this.#state = 'pairing';
    log.warn(
      `Pairing code ${pairingCode}: waiting for the operator of the controller to approve gateway "${this.#options.gatewayId}"; its certificate is ${tlsFingerprint}`,
    );
    if (differs) {
      log.error(
        'Controller shows another pairing code (identity_mismatch): do not approve, someone is in between',
      );
    }
    void this.#options.trust.recordPairingCode(pairingCode);
  }

  #authenticated(about: { connectionId: string; seen: Pins; credentials: Credentials }): void {
    const { gatewayId, address, trust } = this.#options;
    this.#backoff.reset();
    this.#secure = { gatewayId, connectionId: about.connectionId };
    this.#state = 'connected';
    this.#lastError = undefined;
    this.#deps.log.info(`Connected to controller ${address.text} as gateway "${gatewayId}"`);
    for (const { certificate, expiresAt, state } of this.health().certificates) {
      if (state !== 'ok') this.#deps.log.warn(`Certificate of ${OWNERS[certificate]} runs out: ${expiresAt}`);
    }
    void trust.confirm(about.credentials, about.seen);
  }

  #lost(reason: EndReason): void {
    this.#attempt = undefined;
    this.#secure = undefined;
    // Nobody reads now: what was held back for a slow reader runs on.
    this.#session.setSaturated(false);
    if (this.#isClosed) this.#ended.resolve();
    else this.#tryAgain(reason);
  }

  #tryAgain({ code, message }: EndReason): void {
    const delayMs = this.#backoff.nextDelayMs();
    this.#state = 'waiting';
    this.#lastError = `${message} (${code})`;
    const what = `Controller ${this.#options.address.text}: ${message} (${code}); trying again in ${delayMs} ms`;
    if (isMismatch(code)) this.#deps.log.error(what);
    else this.#deps.log.warn(what);
    this.#retry = this.#deps.clock.startTimer(delayMs, () => void this.#open());
  }
}

/** Someone else answered: worth more than a warning. */
function isMismatch(code: string): boolean {
  return code.startsWith('controller_') || code === 'identity_mismatch';
}
