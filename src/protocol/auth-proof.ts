// The proofs behind the messages of authentication: HMAC over a shared secret, Ed25519 over a pairing transcript, and the
// comparisons, none of which tells by its time how much of a secret was right. Nothing here throws for what a peer sent.

import { loadCrypto } from '../support/builtins.ts';

const HMAC_CONTEXT = 'burrow-host-gateway-auth-v1';
const PAIRING_CONTEXT = 'burrow-node-goblin-pairing-v1';

/** Public half as SPKI PEM, private half as PKCS #8 PEM. */
export interface IdentityKeys {
  publicKey: string;
  privateKey: string;
}

/** What both ends of a pairing saw. The keys go in as the PEM text that was sent, to the byte. */
export interface PairingTranscript {
  nonce: string;
  gatewayId: string;
  nodePublicKey: string;
  controllerPublicKey: string;
}

/** A new Ed25519 pair. */
export function createIdentityKeys(): IdentityKeys {
  return loadCrypto().generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

/** Lower-case hex HMAC-SHA256 of the context, the gateway id and the nonce, separated by zero bytes. */
export function hmacProof(
  secret: string,
  { gatewayId, nonce }: { gatewayId: string; nonce: string },
): string {
  return loadCrypto()
    .createHmac('sha256', secret)
    .update(`${HMAC_CONTEXT}\0${gatewayId}\0${nonce}`)
    .digest('hex');
}

export function isHmacProof(
  proof: string,
  secret: string,
  about: { gatewayId: string; nonce: string },
): boolean {
  return isSameText(proof, hmacProof(secret, about));
}

/** base64url. Throws the error of node:crypto when `privateKey` is not an Ed25519 key in PEM. */
export function signPairing(transcript: PairingTranscript, privateKey: string): string {
  return loadCrypto().sign(null, pairingPayload(transcript), privateKey).toString('base64url');
}

/** False as well for a key that is no Ed25519 key, or no key at all. */
export function isPairingSignature(signature: string, transcript: PairingTranscript): boolean {
  const key = readPublicKey(transcript.nodePublicKey);
  if (key?.asymmetricKeyType !== 'ed25519') return false;
  return loadCrypto().verify(null, pairingPayload(transcript), key, Buffer.from(signature, 'base64url'));
}

/** `XXXX-XXXX-XXXX`: the first 12 hex digits of the sha256 of the transcript, for two people to compare. */
export function pairingCode(transcript: PairingTranscript): string {
  const digits = loadCrypto().hash('sha256', pairingPayload(transcript), 'hex').slice(0, 12).toUpperCase();
  return `${digits.slice(0, 4)}-${digits.slice(4, 8)}-${digits.slice(8)}`;
}

/** Whether two PEM texts hold the same key, however they are wrapped; false when one holds none. */
export function isSamePublicKey(a: string, b: string): boolean {
  const [left, right] = [readPublicKey(a), readPublicKey(b)];
  return left !== undefined && right !== undefined && left.equals(right);
}

/** sha256 of a certificate's DER bytes as `openssl x509 -fingerprint -sha256` prints it: `AB:CD:…`. */
export function certificateFingerprint(der: Buffer): string {
  const hex = loadCrypto().hash('sha256', der, 'hex').toUpperCase();
  return hex.match(/../g)?.join(':') ?? '';
}

/** Fingerprints are compared without colons and case: both forms are found in stored files. */
export function isSameFingerprint(a: string, b: string): boolean {
  const plain = (text: string): string => text.replaceAll(':', '').toLowerCase();
  return isSameText(plain(a), plain(b));
}

/** Takes as long whichever characters differ. */
export function isSameText(a: string, b: string): boolean {
  const { hash, timingSafeEqual } = loadCrypto();
  // Digests are of one length, as the comparison needs, so not even the lengths of the texts show.
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}

function pairingPayload({ nonce, gatewayId, nodePublicKey, controllerPublicKey }: PairingTranscript): Buffer {
  return Buffer.from([PAIRING_CONTEXT, nonce, gatewayId, nodePublicKey, controllerPublicKey].join('\0'));
}

function readPublicKey(pem: string): import('node:crypto').KeyObject | undefined {
  try {
    return loadCrypto().createPublicKey(pem);
  } catch {
    // Not a key: the caller treats it as one that matches nothing.
    return undefined;
  }
}
