// What makes two requests the same: the digest of their canonical JSON (RFC 8785), less what belongs to one delivery.

import canonicalize from 'canonicalize';
import { loadCrypto } from '../support/builtins.ts';
import { BurrowError } from './errors.ts';

/**
 * Lower-case sha256 hex of the canonical JSON of `{method, params}`, with operationId, protectedValues,
 * protectedDelivery and traceContext taken out of params (top level only). Also the derived operation id.
 * Throws `invalid_params` when there is no canonical form: a lone surrogate, or a number beyond a double's range.
 */
export function requestDigest(method: string, params: Record<string, unknown>): string {
  const { operationId, protectedValues, protectedDelivery, traceContext, ...rest } = params;
  let text: string | undefined;
  try {
    text = canonicalize({ method, params: rest });
  } catch (cause) {
    const message = 'Expected well-formed text and finite numbers';
    throw new BurrowError('invalid_params', { issues: [{ path: 'params', message }] }, cause);
  }
  return sha256Hex(text ?? '');
}

/** Lower-case sha256 hex of the bytes, or of the UTF-8 of the text. */
export function sha256Hex(data: string | Buffer): string {
  return loadCrypto().hash('sha256', data, 'hex');
}
