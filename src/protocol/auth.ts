// The messages with which a gateway and its controller find out who the other is, read and written at both ends. They come
// before any request and never reach the dispatcher. Unknown fields are kept; every text has a bound; no value is ever
// quoted in a reason.

import * as v from 'valibot';

export {
  certificateFingerprint,
  createIdentityKeys,
  hmacProof,
  type IdentityKeys,
  isHmacProof,
  isPairingSignature,
  isSameFingerprint,
  isSamePublicKey,
  isSameText,
  type PairingTranscript,
  pairingCode,
  signPairing,
} from './auth-proof.ts';

/** A line of authentication is short; a longer one is not read as such. */
export const MAX_AUTH_LINE_BYTES = 64 * 1024;
const MIN_NONCE_CHARACTERS = 16;

const ShortTextSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024));
const PemSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(8 * 1024));

/** The name of a host at its controller: 1 to 256 characters, none of them a control character. */
export const GatewayIdSchema = v.pipe(
  v.string('Expected a string'),
  v.regex(
    /^[^\u0000-\u001f\u007f]{1,256}$/u,
    'Expected 1 to 256 characters, none of them a control character',
  ),
);

export const AuthChallengeSchema = v.looseObject({
  type: v.literal('auth.challenge'),
  nonce: v.pipe(v.string(), v.minLength(MIN_NONCE_CHARACTERS), v.maxLength(1_024)),
  /** SPKI PEM. A controller that only knows HMAC trust may send none. */
  controllerPublicKey: v.nullish(PemSchema),
});

export const AuthResponseSchema = v.looseObject({
  type: v.literal('auth.response'),
  gatewayId: GatewayIdSchema,
  controllerId: v.nullish(ShortTextSchema),
  /** HMAC trust: lower-case hex. */
  proof: v.nullish(ShortTextSchema),
  /** Pairing: all three together. */
  nodePublicKey: v.nullish(PemSchema),
  pairingSignature: v.nullish(ShortTextSchema),
  pairingCode: v.nullish(ShortTextSchema),
  gateway: v.nullish(
    v.looseObject({
      name: v.nullish(v.string()),
      version: v.nullish(v.string()),
      protocolVersion: v.nullish(v.string()),
    }),
  ),
});

export const PairingPendingSchema = v.looseObject({
  type: v.literal('pairing.pending'),
  pairingCode: ShortTextSchema,
});

export const AuthOkSchema = v.looseObject({
  type: v.literal('auth.ok'),
  connectionId: ShortTextSchema,
});

/** What a controller says before it closes: `transport.error` from this one, other types from other versions. */
const AuthErrorSchema = v.looseObject({
  type: v.picklist(['transport.error', 'auth.error', 'error']),
  error: v.looseObject({ code: v.string(), message: v.optional(v.string()) }),
});

export type AuthChallenge = v.InferOutput<typeof AuthChallengeSchema>;
export type AuthResponse = v.InferOutput<typeof AuthResponseSchema>;
export type PairingPending = v.InferOutput<typeof PairingPendingSchema>;
export type AuthOk = v.InferOutput<typeof AuthOkSchema>;
export type AuthError = v.InferOutput<typeof AuthErrorSchema>;
export type AuthMessage = AuthChallenge | AuthResponse | PairingPending | AuthOk | AuthError;

export type ParsedAuthMessage =
  | { status: 'message'; message: AuthMessage }
  /** An object with another `type` or none: a request, or something newer. */
  | { status: 'other' }
  /** `reason` names a field and quotes nothing. */
  | { status: 'invalid'; reason: string };

const SCHEMAS = new Map<string, v.GenericSchema<unknown, AuthMessage>>([
  ['auth.challenge', AuthChallengeSchema],
  ['auth.response', AuthResponseSchema],
  ['pairing.pending', PairingPendingSchema],
  ['auth.ok', AuthOkSchema],
  ['auth.error', AuthErrorSchema],
  ['transport.error', AuthErrorSchema],
  ['error', AuthErrorSchema],
]);

export function parseAuthMessage(line: Buffer): ParsedAuthMessage {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    return { status: 'invalid', reason: 'Line is not valid JSON' };
  }
  if (!isObject(value)) return { status: 'invalid', reason: 'Line is not an object' };
  const schema = typeof value['type'] === 'string' ? SCHEMAS.get(value['type']) : undefined;
  if (schema === undefined) return { status: 'other' };
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return { status: 'message', message: parsed.output };
  const field = v.getDotPath(parsed.issues[0]) ?? 'type';
  return { status: 'invalid', reason: `Field "${field}" of ${value['type']} is not valid` };
}

/**
 * Whether a line after authentication is one of authentication all the same, which is out of order by then
 * (`unexpected_auth_message`). Costs nothing for lines that are too long for one.
 */
export function isAuthMessage(line: Buffer): boolean {
  if (line.length > MAX_AUTH_LINE_BYTES) return false;
  if (!line.includes('"auth.') && !line.includes('"pairing.')) return false;
  try {
    const value: unknown = JSON.parse(line.toString());
    return isObject(value) && /^(auth|pairing)\./.test(String(value['type']));
  } catch {
    return false;
  }
}

export function encodeAuthMessage(message: Exclude<AuthMessage, AuthError>): string {
  return `${JSON.stringify(message)}\n`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
