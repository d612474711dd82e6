// `burrow exec`: one command through the gateway. Its stdout and stderr are ours, live; we exit as it did.

import { createGatewayClient } from '../client/client.ts';
import { parseDurationMs, parseSizeBytes } from '../support/durations.ts';
import { type Call, type Command, UsageError } from './command.ts';
import {
  exitStatusOf,
  exitStatusOfSignal,
  explainEnd,
  readEvidence,
  reportEnd,
  summarise,
} from './evidence-text.ts';
import { runOperation } from './run-operation.ts';
import { protectedParams, SECRET_FLAG } from './secrets.ts';
import type { System } from './system.ts';
import { runOnTargets, TARGET_FLAGS, type Target } from './target.ts';

export const execCommand: Command = {
  meta: {
    name: 'exec',
    description: 'Run one command through the gateway, stream its output, exit as it did',
  },
  usage: "burrow exec [OPTIONS] -- CMD [ARGS...]   or   burrow exec [OPTIONS] -c 'SHELL STRING'",
  takesRest: true,
  args: {
    command: {
      type: 'string',
      alias: 'c',
      valueHint: 'STRING',
      description: 'Run STRING with the shell instead of CMD',
    },
    cwd: {
      type: 'string',
      valueHint: 'DIR',
      description: 'Working directory (default: the current one; behind a controller, that of the daemon)',
    },
    env: {
      type: 'string',
      valueHint: 'K=V',
      description: 'Add to the environment; may be given again',
      multiple: true,
    },
    timeout: {
      type: 'string',
      valueHint: '30s',
      description: 'End the command after this long (default 30s): 500ms, 30s, 5m',
    },
    deadline: {
      type: 'string',
      valueHint: 'TIME',
      description: 'End the command at this time: ISO 8601, or ms since the epoch',
    },
    'max-output': {
      type: 'string',
      valueHint: '1MiB',
      description: 'Most output to take (default 1MiB); more ends the command',
    },
    'operation-id': {
      type: 'string',
      valueHint: 'ID',
      description: 'Identity for replay (default: derived from the request)',
    },
    json: { type: 'boolean', description: 'Print the evidence as one JSON line instead of the output' },
    evidence: { type: 'boolean', description: 'Add a readable summary of the evidence on stderr' },
    ...SECRET_FLAG,
    ...TARGET_FLAGS,
  },
  examples: [
    { command: 'burrow exec -- uname -a', does: 'run a program with its arguments' },
    {
      command: "burrow exec --timeout 5s --evidence -c 'make test | tail'",
      does: 'run a shell string for at most 5 seconds',
    },
  ],
  run: (call) => runOnTargets(call, runExec),
};

async function runExec(call: Call, target: Target): Promise<number> {
  const { flags, system } = call;
  const params = { ...execParams(call, target), ...protectedParams(call, target) };
  const client = createGatewayClient(target.open);
  const streams = flags['json'] === true ? undefined : { stdout: system.stdout, stderr: system.stderr };
  const ended = await runOperation({
    client,
    method: 'process.exec',
    params,
    streams,
    system,
    target,
  });
  if (ended.status === 'abandoned') return ended.exitStatus;
  await client.close();
  const { answer } = ended;
  if (answer.status !== 'ok') {
    const status = reportEnd(answer, system.stderr);
    return ended.interruptedBy === undefined ? status : exitStatusOfSignal(ended.interruptedBy);
  }
  const evidence = readEvidence(answer.result['outcome']);
  const isReplay = answer.result['replay'] === true;
  if (flags['json'] === true) system.stdout.write(`${JSON.stringify(answer.result['outcome'])}\n`);
  // A replay has no events: the output is that of the outcome.
  else if (isReplay) {
    system.stdout.write(evidence.stdout);
    system.stderr.write(evidence.stderr);
  }
  if (flags['evidence'] === true) system.stderr.write(summarise(evidence));
  else if (flags['json'] !== true)
    system.stderr.write(explainEnd(evidence, { isReplay, isOutputCut: ended.isOutputCut }));
  return ended.interruptedBy === undefined ? exitStatusOf(evidence) : exitStatusOfSignal(ended.interruptedBy);
}

function execParams({ flags, rest, system }: Call, target: Target): Record<string, unknown> {
  const command = flags['command'];
  if (command !== undefined && rest !== undefined)
    throw new UsageError('Both -c and a command after "--" are given');
  if (command === undefined && (rest === undefined || rest[0] === undefined)) {
    throw new UsageError('No command is given', 'Put it after "--": burrow exec -- uname -a');
  }
  const form = command !== undefined ? { command } : { executable: rest?.[0], args: rest?.slice(1) };
  const optional = {
    operationId: flags['operation-id'],
    timeoutMs: duration(flags, 'timeout'),
    deadlineMs: deadline(flags),
    maxOutputBytes: size(flags, 'max-output'),
  };
  const given = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    ...form,
    ...directory(flags, target, system),
    env: environment(flags),
    ...Object.fromEntries(given),
  };
}

/** Behind a controller the current directory means nothing: the daemon's own is the default there. */
function directory(flags: Call['flags'], { kind }: Target, system: System): { cwd?: unknown } {
  if (flags['cwd'] !== undefined) return { cwd: flags['cwd'] };
  return kind === 'controller' ? {} : { cwd: system.cwd };
}

function environment(flags: Call['flags']): Record<string, string> {
  const entries: Record<string, string> = Object.create(null);
  const pairs = flags['env'];
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    const separator = pair.indexOf('=');
    if (separator < 1) throw new UsageError(`Flag "--env" takes NAME=VALUE, not "${pair}"`);
    entries[pair.slice(0, separator)] = pair.slice(separator + 1);
  }
  return entries;
}

function duration(flags: Call['flags'], name: string): number | undefined {
  const text = flags[name];
  if (typeof text !== 'string') return undefined;
  const parsed = parseDurationMs(text);
  if (parsed === undefined)
    throw new UsageError(`Flag "--${name}" takes a duration such as 500ms, 30s or 5m, not "${text}"`);
  return parsed;
}

function size(flags: Call['flags'], name: string): number | undefined {
  const text = flags[name];
  if (typeof text !== 'string') return undefined;
  const parsed = parseSizeBytes(text);
  if (parsed === undefined)
    throw new UsageError(`Flag "--${name}" takes a size in whole bytes such as 64KiB or 1MiB, not "${text}"`);
  return parsed;
}

function deadline(flags: Call['flags']): number | undefined {
  const text = flags['deadline'];
  if (typeof text !== 'string') return undefined;
  const parsed = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (!Number.isFinite(parsed) || parsed <= 0) {
    throw new UsageError(
      `Flag "--deadline" takes a time such as 2030-01-31T12:00:00Z or milliseconds since the epoch, not "${text}"`,
    );
  }
  return parsed;
}
