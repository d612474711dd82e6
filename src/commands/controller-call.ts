// What the verbs of `burrow controller` share: one request to the controller's operator socket, and its answer or the reason
// why there is none.

import { createGatewayClient } from '../client/client.ts';
import { unixSocket } from '../client/socket.ts';
import type { Call, Flag } from './command.ts';
import { reportEnd } from './evidence-text.ts';
import { EXIT } from './system.ts';

/** Where the packaged controller listens. */
export const DEFAULT_CONTROLLER_SOCKET = '/run/burrow-controller/operator.sock';

export const CONTROLLER_FLAGS: Readonly<Record<string, Flag>> = {
  socket: {
    type: 'string',
    valueHint: 'PATH',
    description: `The operator's socket of the controller (default ${DEFAULT_CONTROLLER_SOCKET}, or BURROW_CONTROLLER_SOCKET)`,
  },
  json: { type: 'boolean', description: 'Print the result as one JSON line' },
};

export interface ControllerCall {
  method: string;
  params: Record<string, unknown>;
  /** The result as text for people and scripts. */
  show(result: Record<string, unknown>): string;
}

/** Sends one request, prints its result, answers the exit status. */
export async function callController(call: Call, { method, params, show }: ControllerCall): Promise<number> {
  const { flags, system } = call;
  const path = flags['socket'] ?? (system.env['BURROW_CONTROLLER_SOCKET'] || DEFAULT_CONTROLLER_SOCKET);
  const client = createGatewayClient(unixSocket(String(path), 'controller'));
  const answer = await client.call(method, params);
  await client.close();
  if (answer.status !== 'ok') return reportEnd(answer, system.stderr);
  system.stdout.write(flags['json'] === true ? `${JSON.stringify(answer.result)}\n` : show(answer.result));
  return EXIT.done;
}

/** Columns of equal width, separated by two blanks; a control character is never printed. */
export function columns(rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) =>
    row.map((cell) => (cell === null || cell === undefined ? '-' : plain(cell))),
  );
  const widths = (texts[0] ?? []).map((_, index) => Math.max(...texts.map((row) => row[index]?.length ?? 0)));
  return texts
    .map(
      (row) =>
        `${row
          .map((text, index) => text.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function plain(cell: unknown): string {
  return String(cell).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
