// Values that travel once, from the controller into the environment of one process. Taken only over an authenticated
// connection and only when bound to it, to this request and to this operation. Nothing that was delivered is ever
// repeated: not in an error, not in a log, not in an outcome.

import * as v from 'valibot';
import { isSameText } from '../protocol/auth-proof.ts';
import { BurrowError } from '../protocol/errors.ts';
import type { ExecParams } from '../protocol/exec-params.ts';
import type { Request } from '../protocol/request.ts';
import { Secret } from '../support/secret.ts';
import type { SecureContext } from './connection.ts';

export type ProtectedValues = readonly (readonly [name: string, value: Secret])[];

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const ValuesSchema = v.nullish(v.custom<Record<string, unknown>>(isPlainObject));

const DeliverySchema = v.object({
  gatewayId: v.string(),
  connectionId: v.string(),
  /** The same type as the id of the request. */
  requestId: v.nullish(v.union([v.string(), v.number(), v.boolean()]), null),
  operationId: v.string(),
});

/**
 * The values of `params`, none when it carries none. Throws `protected_delivery_binding_invalid` when there are values or a
 * binding and the connection is not authenticated, a field of the binding is not this delivery's, or a name or value cannot
 * be a variable.
 */
export function openProtectedValues(
  params: ExecParams,
  request: Request,
  secure: SecureContext | undefined,
): ProtectedValues {
  if (params.protectedValues === undefined && params.protectedDelivery === undefined) return [];
  if (secure === undefined) throw refuse('Protected values are taken over an authenticated connection only');
  checkBinding(params, request, secure);
  const values = v.safeParse(ValuesSchema, params.protectedValues);
  if (!values.success) throw refuse('Protected values are not an object of names to values');
  return Object.entries(values.output ?? {}).map(([name, value]) => {
    if (!NAME.test(name)) throw refuse('A name of the protected values cannot name a variable');
    if (!isVariableText(value)) throw refuse('A protected value is not a string that a variable can hold');
    return [name, new Secret(value)];
  });
}

function checkBinding(params: ExecParams, { idJson }: Request, secure: SecureContext): void {
  const delivery = v.safeParse(DeliverySchema, params.protectedDelivery);
  if (!delivery.success) throw refuse('The binding of protected values is not complete');
  const { gatewayId, connectionId, requestId, operationId } = delivery.output;
  // All four, whichever is wrong: the time tells nothing about which.
  const matches = [
    isSameText(gatewayId, secure.gatewayId),
    isSameText(connectionId, secure.connectionId),
    isSameText(JSON.stringify(requestId), idJson),
    isSameText(operationId, params.operationId ?? '') && params.operationId !== null,
  ];
  if (matches.includes(false)) throw refuse('The binding of protected values is not that of this delivery');
}

function refuse(message: string): BurrowError {
  return new BurrowError('protected_delivery_binding_invalid', { message });
}

function isVariableText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed();
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
