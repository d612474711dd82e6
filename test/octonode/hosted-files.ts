// What the tests of files that burrow runs itself share: a file for each source, a call of it, and its error.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type InvokeCallOptions, invokeNode, type ResultEnvelope } from '../../src/octonode/octonode.ts';
import { hosted, options } from './nodes.ts';

/** One for each test file that imports this; removed after its last test. */
export const directory = mkdtempSync(join(tmpdir(), 'octonode-host-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;

/** A file with this source; what it imports from `burrow/node` is added. */
export function file(source: string, extension = 'ts'): string {
  files += 1;
  const path = join(directory, `node-${files}.${extension}`);
  const header =
    extension === 'cjs'
      ? ''
      : "import { defineClass, defineConst, defineNode, defineService, NodeError } from 'burrow/node';\n";
  writeFileSync(path, header + source);
  return path;
}

export function invoke(
  source: string,
  inputs: unknown = {},
  call: InvokeCallOptions & { onStderr?: (chunk: Buffer) => void } = {},
): Promise<ResultEnvelope> {
  return invokeNode(hosted(file(source)), inputs, { ...options(), ...call });
}

export function errorOf(envelope: ResultEnvelope): {
  code: string;
  message: string;
  retryable: boolean;
  details?: unknown;
  stack?: string | undefined;
} {
  if (envelope.status !== 'error') throw new Error(`Not an error: ${JSON.stringify(envelope)}`);
  return envelope.error;
}
