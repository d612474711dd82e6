// What a gateway knows of itself and its controller, as files of its state directory: read once at the start, written whole
// or not at all, mode 0600. Files of an older installation are used as they are, and fields that are not known here are kept.

import { readFileSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { writeFileAtomic } from '../../support/atomic-file.ts';
import { ConfigurationError } from '../../support/configuration-error.ts';
import { makeDirectory } from '../../support/make-directory.ts';

export const IDENTITY_FILE = 'node-identity.json';
export const TRUST_FILE = 'controller-trust.json';
export const CONSUMED_FILE = 'controller-enrollment-consumed';
export const PAIRING_CODE_FILE = 'pairing-code.json';

const TextSchema = v.pipe(v.string(), v.minLength(1));

export const NodeIdentitySchema = v.looseObject({
  version: v.literal(1),
  nodeId: TextSchema,
  publicKey: TextSchema,
  privateKey: TextSchema,
  createdAt: v.optional(v.string()),
  controllerPublicKey: v.nullish(TextSchema),
  controllerTlsFingerprint: v.nullish(TextSchema),
});

export const ControllerTrustSchema = v.looseObject({
  version: v.literal(1),
  controllerId: TextSchema,
  secret: TextSchema,
  enrolledAt: v.optional(v.string()),
});

export type NodeIdentity = v.InferOutput<typeof NodeIdentitySchema>;

export interface StateFiles {
  /** Undefined when there is none. Throws ConfigurationError for a file that cannot be read or holds something else. */
  read<Schema extends v.GenericSchema>(name: string, schema: Schema): v.InferOutput<Schema> | undefined;
  has(name: string): boolean;
  write(name: string, content: object | string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The directory is made, mode 0700, when it does not exist. Throws ConfigurationError when it cannot be used. */
export async function openStateFiles(directory: string): Promise<StateFiles> {
  try {
    await makeDirectory(directory, 0o700);
  } catch (error) {
    throw new ConfigurationError(`Cannot use state directory "${directory}": ${messageOf(error)}`, error);
  }
  return stateFilesIn(directory);
}

/** Of a directory that exists. */
export function stateFilesIn(directory: string): StateFiles {
  const readText = (name: string): string | undefined => {
    try {
      return readFileSync(join(directory, name), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw new ConfigurationError(`Cannot read "${join(directory, name)}": ${messageOf(error)}`, error);
    }
  };
  return {
    read(name, schema) {
      const text = readText(name);
      return text === undefined ? undefined : parse(join(directory, name), text, schema);
    },
    has: (name) => readText(name) !== undefined,
    write: (name, content) =>
      writeFileAtomic(
        join(directory, name),
        typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`,
      ),
    remove: (name) =>
      unlink(join(directory, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      }),
  };
}

/** Quotes nothing of the text: it holds a key or a secret. */
function parse<Schema extends v.GenericSchema>(
  path: string,
  text: string,
  schema: Schema,
): v.InferOutput<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigurationError(
      `File "${path}" is not JSON: restore it, or remove it to pair or enroll again`,
    );
  }
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const field = v.getDotPath(parsed.issues[0]) ?? 'version';
  throw new ConfigurationError(
    `Field "${field}" of file "${path}" is not valid: restore it, or remove it to pair or enroll again`,
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
