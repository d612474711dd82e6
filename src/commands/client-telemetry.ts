// `burrow client telemetry`: where spans go, and how to send them elsewhere or nowhere. A header value is never printed.

import { type Call, type Command, type Flag, UsageError } from './command.ts';

type Ask = (
  call: Call,
  method: string,
  params: Record<string, unknown>,
  pick?: (result: Record<string, unknown>) => Record<string, unknown>,
) => Promise<number>;

export function telemetryCommand(ask: Ask, shared: Record<string, Flag>): Command {
  return {
    meta: { name: 'telemetry', description: 'Print or change where the gateway sends its spans' },
    args: {
      endpoint: {
        type: 'string',
        valueHint: 'URL',
        description: 'Send spans to this OTLP/HTTP collector; /v1/traces is added',
      },
      header: {
        type: 'string',
        valueHint: 'K=V',
        description: 'Add to every request to the collector; may be given again',
        multiple: true,
      },
      disable: { type: 'boolean', description: 'Send no spans' },
      ...shared,
    },
    examples: [
      {
        command: 'burrow client telemetry --socket b.sock',
        does: 'print the collector of a daemon and what became of its spans',
      },
      {
        command: 'burrow client telemetry --socket b.sock --endpoint http://127.0.0.1:4318',
        does: 'send its spans there',
      },
    ],
    run(call) {
      const { endpoint, header, disable } = call.flags;
      if (disable === true && (endpoint !== undefined || header !== undefined))
        throw new UsageError('Flag "--disable" stands alone');
      if (endpoint === undefined && header !== undefined)
        throw new UsageError('Flag "--header" needs "--endpoint"');
      if (disable === true) return ask(call, 'telemetry.configure', { enabled: false });
      if (endpoint === undefined) return ask(call, 'health', {}, telemetryOf);
      return ask(call, 'telemetry.configure', { enabled: true, endpoint, headers: toHeaders(header) });
    },
  };
}

function telemetryOf({ telemetry }: Record<string, unknown>): Record<string, unknown> {
  // An object by the protocol; a gateway that is too old to have it prints nothing.
  return (telemetry ?? {}) as Record<string, unknown>;
}

function toHeaders(pairs: Call['flags'][string]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    const separator = pair.indexOf('=');
    // Not quoted: without a separator it may be the value alone.
    if (separator < 1) throw new UsageError('Flag "--header" takes NAME=VALUE');
    headers[pair.slice(0, separator)] = pair.slice(separator + 1);
  }
  return headers;
}
