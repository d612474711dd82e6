// `burrow node describe`: what a node says about itself.

import { describeNode, type NodeManifest } from '../octonode/octonode.ts';
import type { Command } from './command.ts';
import { durationFlag, exitStatusOf, interruptible, processOptions, reportFailure } from './node-options.ts';
import { nodeTarget, TARGET_ARGS } from './node-target.ts';

export const nodeDescribeCommand: Command = {
  meta: { name: 'describe', description: 'Print the manifest of a node' },
  takesRest: true,
  usage: 'burrow node describe [OPTIONS] (FILE | ID | -- CMD [ARGS...])',
  args: { ...TARGET_ARGS, json: { type: 'boolean', description: 'Print the manifest as one JSON line' } },
  examples: [
    { command: 'burrow node describe greet.ts', does: 'print id, language, schemas, one a line' },
    { command: 'burrow node describe --json -- python3 nodes/greet.py', does: 'print the manifest as JSON' },
  ],
  run: (call) =>
    interruptible(call.system, async (signal) => {
      const { command, cwd, node, timeoutMs: ownTimeoutMs } = await nodeTarget(call);
      const timeoutMs = durationFlag(call.flags, 'timeout') ?? ownTimeoutMs;
      const envelope = await describeNode(command, {
        ...processOptions(call.system, cwd),
        signal,
        ...(node === undefined ? {} : { node }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      if (envelope.status === 'error') reportFailure(envelope, call.system);
      else
        call.system.stdout.write(
          call.flags.json === true ? `${JSON.stringify(envelope.manifest)}\n` : fieldLines(envelope.manifest),
        );
      return exitStatusOf(envelope);
    }),
};

function fieldLines(manifest: NodeManifest): string {
  const fields = Object.entries(manifest).filter(([, value]) => value !== undefined);
  const width = Math.max(...fields.map(([name]) => name.length));
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${text(value)}\n`).join('');
}
