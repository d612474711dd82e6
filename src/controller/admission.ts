// Judges the answer to a challenge: a gateway that is on record, one that an operator has to look at, or none at all. Looks
// at the proof alone, sends nothing and keeps nothing. A proof is good for the nonce it was made for and no other.

import {
  type AuthResponse,
  type IdentityKeys,
  isHmacProof,
  isPairingSignature,
  isSamePublicKey,
  isSameText,
  pairingCode,
} from '../protocol/auth.ts';
import { BurrowError, type ErrorCode } from '../protocol/errors.ts';
import { loadCrypto } from '../support/builtins.ts';
import type { GatewayRecord } from './gateway-records.ts';

const NONCE_BYTES = 24;

export interface Applicant {
  gatewayId: string;
  nodePublicKey: string;
  /** Of this very challenge. */
  pairingCode: string;
}

export type Judgement =
  | { status: 'known'; gatewayId: string; trust: GatewayRecord['kind'] }
  | { status: 'unknown'; applicant: Applicant }
  | { status: 'refused'; error: BurrowError };

export interface JudgementDeps {
  nonce: string;
  keys: IdentityKeys;
  find(gatewayId: string): GatewayRecord | undefined;
}

/** 32 characters that were never sent before. */
export function createNonce(): string {
  return loadCrypto().randomBytes(NONCE_BYTES).toString('base64url');
}

export function judge(response: AuthResponse, deps: JudgementDeps): Judgement {
  const { proof } = response;
  return typeof proof === 'string' ? judgeProof(response, proof, deps) : judgePairing(response, deps);
}

function judgeProof({ gatewayId }: AuthResponse, proof: string, { nonce, find }: JudgementDeps): Judgement {
  const record = find(gatewayId);
  // Without a secret the same work is done with a random one.
  const secret = record?.kind === 'enrollment' ? record.secret : createNonce();
  const isRight = isHmacProof(proof, secret, { gatewayId, nonce });
  if (record === undefined) return refused('unknown_gateway');
  if (record.kind === 'node') {
    return refused('gateway_identity_conflict', 'Gateway id belongs to a paired node, and a proof was sent');
  }
  if (!isRight) return refused('auth_failed', 'The proof does not match the secret and this challenge');
  return { status: 'known', gatewayId, trust: 'enrollment' };
}

function judgePairing(response: AuthResponse, { nonce, keys, find }: JudgementDeps): Judgement {
  const { gatewayId, nodePublicKey, pairingSignature, pairingCode: shownCode } = response;
  if (!nodePublicKey || !pairingSignature || !shownCode) {
    return refused('invalid_auth_message', 'Neither a proof nor a key, a signature and a code were sent');
  }
  const transcript = { nonce, gatewayId, nodePublicKey, controllerPublicKey: keys.publicKey };
  if (!isPairingSignature(pairingSignature, transcript)) {
    return refused('auth_failed', 'The signature does not match the key and this challenge');
  }
  const code = pairingCode(transcript);
  if (!isSameText(code, shownCode)) {
    return refused('auth_failed', 'The pairing code is not that of this challenge');
  }
  const record = find(gatewayId);
  if (record === undefined) {
    return { status: 'unknown', applicant: { gatewayId, nodePublicKey, pairingCode: code } };
  }
  if (record.kind === 'enrollment') {
    return refused(
      'gateway_identity_conflict',
      'Gateway id belongs to an enrollment, and a pairing was asked for',
    );
  }
  if (!isSamePublicKey(record.publicKey, nodePublicKey)) return refused('gateway_identity_conflict');
  return { status: 'known', gatewayId, trust: 'node' };
}

function refused(code: ErrorCode, message?: string): Judgement {
  return { status: 'refused', error: new BurrowError(code, message === undefined ? {} : { message }) };
}
