// What the running service says of itself, over its local socket.

import { createGatewayClient } from '../client/client.ts';
import { unixSocket } from '../client/socket.ts';
import type { System } from './system.ts';

/** A service that does not answer in this time is stuck. */
const ANSWER_LIMIT_MS = 5_000;

export type ServiceAnswer =
  | { status: 'ok'; hello: Record<string, unknown>; health: Record<string, unknown> }
  | { status: 'silent'; reason: string };

export async function askService(socket: string, system: System): Promise<ServiceAnswer> {
  const client = createGatewayClient(unixSocket(socket));
  const late = new Promise<'late'>((resolve) => {
    system.clock.startTimer(ANSWER_LIMIT_MS, () => resolve('late'), { background: true });
  });
  try {
    const answers = await Promise.race([Promise.all([client.call('hello'), client.call('health')]), late]);
    if (answers === 'late') return { status: 'silent', reason: `no answer within ${ANSWER_LIMIT_MS} ms` };
    const [hello, health] = answers;
    if (hello.status === 'ok' && health.status === 'ok')
      return { status: 'ok', hello: hello.result, health: health.result };
    const failed = hello.status === 'ok' ? health : hello;
    if (failed.status === 'unreachable') return { status: 'silent', reason: failed.reason };
    return { status: 'silent', reason: failed.status === 'refused' ? failed.error.message : 'no health' };
  } finally {
    void client.close();
  }
}

/** The controller part of health; undefined when the service dials nobody. */
export function controllerState(
  health: Record<string, unknown>,
): { url: string; state: string; lastError: string | undefined } | undefined {
  const controller = health['controller'];
  if (typeof controller !== 'object' || controller === null) return undefined;
  const { url, state, lastError } = controller as Record<string, unknown>;
  return {
    url: String(url),
    state: String(state),
    lastError: typeof lastError === 'string' ? lastError : undefined,
  };
}
