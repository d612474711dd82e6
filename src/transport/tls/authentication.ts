// The gateway's part of authentication as a conversation: one line in, one step out. It sends nothing, waits for nothing and
// starts nothing itself; a step says what to do. The order is challenge, (pending,) ok, and anything else ends it.

import {
  type AuthChallenge,
  type AuthError,
  encodeAuthMessage,
  hmacProof,
  isSamePublicKey,
  MAX_AUTH_LINE_BYTES,
  pairingCode,
  parseAuthMessage,
  signPairing,
} from '../../protocol/auth.ts';
import { GATEWAY_NAME, PROTOCOL_VERSION } from '../../protocol/defaults.ts';
import { encodeFailure } from '../../protocol/envelopes.ts';
import { BurrowError } from '../../protocol/errors.ts';
import { parseRequest } from '../../protocol/request.ts';
import type { Credentials } from './trust.ts';

const MAX_LOGGED_CHARACTERS = 200;
/** Controls, line ends, and what turns the direction of text. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

export type AuthStep =
  /** The challenge is answered with `frame`. */
  | { status: 'answered'; frame: string }
  /** An operator has to approve. The controller shows another code when `differs`: someone is in between. */
  | { status: 'pending'; pairingCode: string; differs: boolean }
  | { status: 'authenticated'; connectionId: string; controllerPublicKey: string | undefined }
  /** A request came early: `frame` says so, nothing else happens. */
  | { status: 'unauthenticated'; frame: string }
  /** The controller said no, with a code of its own. */
  | { status: 'refused'; code: string; message: string }
  /** The connection must end because of `error`. */
  | { status: 'broken'; error: BurrowError };

export interface AuthenticationOptions {
  gatewayId: string;
  version: string;
  credentials: Credentials;
}

export interface Authentication {
  receive(line: Buffer): AuthStep;
}

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { credentials } = options;
  let challenge: AuthChallenge | undefined;

  const answer = (received: AuthChallenge): AuthStep => {
    if (challenge !== undefined) return broken('unexpected_auth_message', 'A second challenge came');
    const problem = credentials.kind === 'pairing' ? keyProblem(received, credentials) : undefined;
    if (problem !== undefined) return { status: 'broken', error: problem };
    challenge = received;
    return { status: 'answered', frame: encodeResponse(received, options) };
  };

  return {
    receive(line) {
      const parsed = parseAuthMessage(line);
      if (parsed.status === 'invalid') return broken('invalid_auth_message', parsed.reason);
      if (parsed.status === 'other') return refuseEarly(line);
      const { message } = parsed;
      if (message.type === 'auth.challenge') return answer(message);
      if (message.type === 'auth.response') {
        return broken('unexpected_auth_message', 'The controller answered a challenge that nobody made');
      }
      if (message.type === 'auth.ok' || message.type === 'pairing.pending') {
        if (challenge === undefined) {
          return broken('unexpected_auth_message', `Message "${message.type}" came before the challenge`);
        }
        const controllerPublicKey = challenge.controllerPublicKey ?? undefined;
        if (message.type === 'auth.ok') {
          return { status: 'authenticated', connectionId: message.connectionId, controllerPublicKey };
        }
        return pending(message.pairingCode, challenge, options);
      }
      return { status: 'refused', ...reasonOf(message) };
    },
  };
}

/** What is wrong with the controller's key, for a gateway that pairs or has paired. */
function keyProblem(
  { controllerPublicKey: sent }: AuthChallenge,
  { pins }: Extract<Credentials, { kind: 'pairing' }>,
): BurrowError | undefined {
  if (sent === undefined || sent === null) return new BurrowError('controller_identity_missing');
  const pinned = pins.controllerPublicKey;
  if (pinned === undefined || pinned === sent || isSamePublicKey(pinned, sent)) return undefined;
  return new BurrowError('controller_identity_mismatch');
}

function encodeResponse(
  { nonce, controllerPublicKey }: AuthChallenge,
  { gatewayId, version, credentials }: AuthenticationOptions,
): string {
  const common = {
    type: 'auth.response' as const,
    gatewayId,
    controllerId: credentials.controllerId,
    gateway: { name: GATEWAY_NAME, version, protocolVersion: PROTOCOL_VERSION },
  };
  if (credentials.kind === 'hmac') {
    const proof = hmacProof(credentials.secret.reveal(), { gatewayId, nonce });
    return encodeAuthMessage({ ...common, proof });
  }
  const nodePublicKey = credentials.publicKey;
  const transcript = { nonce, gatewayId, nodePublicKey, controllerPublicKey: controllerPublicKey ?? '' };
  return encodeAuthMessage({
    ...common,
    nodePublicKey,
    pairingSignature: signPairing(transcript, credentials.privateKey.reveal()),
    pairingCode: pairingCode(transcript),
  });
}

function pending(
  controllerCode: string,
  { nonce, controllerPublicKey }: AuthChallenge,
  { gatewayId, credentials }: AuthenticationOptions,
): AuthStep {
  if (credentials.kind === 'hmac') {
    return broken('unexpected_auth_message', 'The controller asks for pairing although a proof was sent');
  }
  const nodePublicKey = credentials.publicKey;
  const code = pairingCode({
    nonce,
    gatewayId,
    nodePublicKey,
    controllerPublicKey: controllerPublicKey ?? '',
  });
  return { status: 'pending', pairingCode: code, differs: code !== controllerCode };
}

function refuseEarly(line: Buffer): AuthStep {
  const parsed = parseRequest(line);
  if (parsed.status === 'invalid') {
    return broken('invalid_auth_message', 'Line is neither authentication nor a request');
  }
  return {
    status: 'unauthenticated',
    frame: encodeFailure(parsed.request.idJson, new BurrowError('unauthenticated')),
  };
}

/**
 * What a controller says after authentication before it hangs up, such as that the host was revoked; undefined for any other
 * line. Costs nothing for lines that are too long for one.
 */
export function readLastWord(line: Buffer): { code: string; message: string } | undefined {
  if (line.length > MAX_AUTH_LINE_BYTES || !line.includes('"transport.error"')) return undefined;
  const parsed = parseAuthMessage(line);
  if (parsed.status !== 'message' || parsed.message.type !== 'transport.error') return undefined;
  return reasonOf(parsed.message);
}

function reasonOf({ error }: AuthError): { code: string; message: string } {
  return { code: printable(error.code), message: printable(error.message ?? '') };
}

/** A text of the peer for a log: not a long one, and nothing that a terminal would obey. */
function printable(text: string): string {
  return text.slice(0, MAX_LOGGED_CHARACTERS).replace(UNPRINTABLE, '?');
}

function broken(code: 'invalid_auth_message' | 'unexpected_auth_message', message: string): AuthStep {
  return { status: 'broken', error: new BurrowError(code, { message }) };
}
