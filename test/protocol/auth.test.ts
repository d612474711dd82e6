import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  certificateFingerprint,
  createIdentityKeys,
  encodeAuthMessage,
  hmacProof,
  isAuthMessage,
  isHmacProof,
  isPairingSignature,
  isSameFingerprint,
  isSamePublicKey,
  isSameText,
  pairingCode,
  parseAuthMessage,
  signPairing,
} from '../../src/protocol/auth.ts';

const NONCE = 'nonce-nonce-nonce';
/** RFC 8032, section 7.1, test 1. */
const KEYS = {
  privateKey:
    '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n',
  publicKey:
    '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n',
};

describe('hmacProof()', () => {
  it('is what openssl makes of the same message', () => {
    const proof = '6d80dc2edcf2f56ac9815ba6ae2aef636dddf21f938240693ab3946efde8855c';
    expect(hmacProof('secret', { gatewayId: 'host-1', nonce: NONCE })).toBe(proof);
    expect(isHmacProof(proof, 'secret', { gatewayId: 'host-1', nonce: NONCE })).toBe(true);
  });

  it.each([
    ['another secret', 'other', { gatewayId: 'host-1', nonce: NONCE }],
    ['another gateway', 'secret', { gatewayId: 'host-2', nonce: NONCE }],
    ['another nonce: a replay', 'secret', { gatewayId: 'host-1', nonce: 'nonce-nonce-nonc2' }],
  ])('is none for %s', (_name, secret, about) => {
    expect(isHmacProof(hmacProof('secret', { gatewayId: 'host-1', nonce: NONCE }), secret, about)).toBe(
      false,
    );
  });
});

describe('a pairing', () => {
  const transcript = {
    nonce: NONCE,
    gatewayId: 'host-1',
    nodePublicKey: KEYS.publicKey,
    controllerPublicKey: 'CONTROLLER',
  };

  it('has the code that openssl makes of the same transcript', () => {
    expect(pairingCode({ ...transcript, nodePublicKey: 'NODE' })).toBe('6861-EF1E-978C');
  });

  it('is signed over its parts, separated by zero bytes', () => {
    const payload = Buffer.from(
      `burrow-node-goblin-pairing-v1\0${NONCE}\0host-1\0${KEYS.publicKey}\0CONTROLLER`,
    );
    const signature = signPairing(transcript, KEYS.privateKey);
    expect(signature).toMatch(/^[\w-]{86}$/);
    expect(verify(null, payload, createPublicKey(KEYS.publicKey), Buffer.from(signature, 'base64url'))).toBe(
      true,
    );
    expect(isPairingSignature(signature, transcript)).toBe(true);
  });

  it.each([
    ['another nonce', { nonce: 'other-other-other' }],
    ['another gateway', { gatewayId: 'host-2' }],
    ['another controller', { controllerPublicKey: 'MIDDLE' }],
    ['another node', { nodePublicKey: createIdentityKeys().publicKey }],
    ['a key that is none', { nodePublicKey: 'garbage' }],
  ])('is not that of %s', (_name, change) => {
    expect(isPairingSignature(signPairing(transcript, KEYS.privateKey), { ...transcript, ...change })).toBe(
      false,
    );
  });

  it.each(['', 'garbage', 'A'.repeat(86)])('is not signed by "%s"', (signature) => {
    expect(isPairingSignature(signature, transcript)).toBe(false);
  });
});

describe('comparisons', () => {
  it('of texts, keys and fingerprints look at what they mean', () => {
    expect([isSameText('a', 'a'), isSameText('a', 'b'), isSameText('a', 'ab'), isSameText('', '')]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(isSamePublicKey(KEYS.publicKey, KEYS.publicKey.replaceAll('\n', '\r\n'))).toBe(true);
    expect(isSamePublicKey(KEYS.publicKey, createIdentityKeys().publicKey)).toBe(false);
    expect(isSamePublicKey('x', 'x')).toBe(false);
    const fingerprint = certificateFingerprint(Buffer.from('abc'));
    expect(fingerprint).toMatch(/^BA:78:16:BF:/);
    expect(isSameFingerprint(fingerprint, fingerprint.replaceAll(':', '').toLowerCase())).toBe(true);
    expect(isSameFingerprint(fingerprint, certificateFingerprint(Buffer.from('abd')))).toBe(false);
  });
});

describe('parseAuthMessage()', () => {
  it.each([
    [{ type: 'auth.challenge', nonce: '0123456789abcdef', controllerPublicKey: 'PEM' }],
    [{ type: 'auth.challenge', nonce: '0123456789abcdef' }],
    [{ type: 'auth.response', gatewayId: 'host-1', controllerId: 'c', proof: 'ab', later: 1 }],
    [{ type: 'pairing.pending', pairingCode: 'AAAA-BBBB-CCCC' }],
    [{ type: 'auth.ok', connectionId: 'c1' }],
    [{ type: 'transport.error', ok: false, error: { code: 'auth_failed' } }],
  ])('reads %j', (message) => {
    expect(parseAuthMessage(Buffer.from(JSON.stringify(message)))).toEqual({ status: 'message', message });
  });

  it.each([
    ['no JSON', '{', 'Line is not valid JSON'],
    ['no object', '[1]', 'Line is not an object'],
    [
      'a nonce of 15 characters',
      '{"type":"auth.challenge","nonce":"0123456789abcde"}',
      'Field "nonce" of auth.challenge is not valid',
    ],
    [
      'an empty connection id',
      '{"type":"auth.ok","connectionId":""}',
      'Field "connectionId" of auth.ok is not valid',
    ],
    [
      'a gateway id with a zero byte',
      '{"type":"auth.response","gatewayId":"a\\u0000b"}',
      'Field "gatewayId" of auth.response is not valid',
    ],
  ])('refuses %s', (_name, line, reason) => {
    expect(parseAuthMessage(Buffer.from(line))).toEqual({ status: 'invalid', reason });
  });

  it.each(['{"id":1,"method":"hello"}', '{"type":"constructor"}', '{"type":5}'])(
    'leaves %s to others',
    (line) => {
      expect(parseAuthMessage(Buffer.from(line))).toEqual({ status: 'other' });
    },
  );
});

describe('isAuthMessage()', () => {
  it.each([
    [encodeAuthMessage({ type: 'auth.ok', connectionId: 'c' }), true],
    ['{"type":"pairing.pending"}', true],
    ['{"id":1,"method":"process.exec","params":{"command":"echo \\"auth.ok\\""}}', false],
    ['{"id":1,"method":"hello","params":{"type":"auth.ok"}}', false],
    ['{"type":"auth.', false],
  ])('of %j: %s', (line, is) => {
    expect(isAuthMessage(Buffer.from(line))).toBe(is);
  });
});
