// Runs the nodes of one TypeScript or JavaScript file in this process: request lines in, answer lines out, until the end
// of input, many at a time. stdout is for answers alone: whatever else the file writes there goes to stderr instead.

import { extname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { createSchemaChecker, type SchemaChecker } from '../schema-check.ts';
import { AnswerLines, type HostOutput } from './answer-lines.ts';
import type { Loaded } from './answer-request.ts';
import { readDefinitions } from './definitions.ts';
import { createInstances } from './instances.ts';
import { provideSdkModule } from './sdk-module.ts';

interface HostStreams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
}

/** Resolves when the input ended, every request is answered, every service disposed and the last byte handed on. */
export async function hostNodes(file: string, streams: HostStreams): Promise<void> {
  const output = takeStdout(streams);
  provideSdkModule();
  const instances = createInstances((id, error) => {
    streams.stderr.write(
      `Cannot dispose service "${id}": ${error instanceof Error ? error.stack : String(error)}\n`,
    );
  });
  const schemas = createSchemaChecker();
  const loaded = loadFile(file);
  const answered = new AnswerLines(streams.stdin, output, { loaded, instances, schemas }).ended();
  if (!(await hasRequest(streams.stdin, loaded))) void prepareSchemas(await loaded, schemas);
  await answered;
  await instances.disposeAll();
  await output.release();
}

async function loadFile(file: string): Promise<Loaded> {
  const language = extname(file).endsWith('ts') ? 'typescript' : 'javascript';
  try {
    // The one import that no bundler can foresee: the user's file.
    const exported: Record<string, unknown> = await import(pathToFileURL(resolve(file)).href);
    return { status: 'ok', definitions: readDefinitions(exported, language) };
  } catch (error) {
    return { status: 'failed', error };
  }
}

/** Whether something was there to read by the time the file was loaded. If not, the process was started ahead of its call. */
async function hasRequest(input: Readable, loaded: Promise<Loaded>): Promise<boolean> {
  let hasData = false;
  const note = (): void => {
    hasData = true;
  };
  input.once('data', note).once('end', note);
  await loaded;
  await new Promise<void>((turn) => setImmediate(turn));
  input.removeListener('data', note).removeListener('end', note);
  return hasData;
}

async function prepareSchemas(loaded: Loaded, schemas: SchemaChecker): Promise<void> {
  if (loaded.status === 'failed') return;
  const runnables = loaded.definitions.flatMap((definition) => [...definition.runnables.values()]);
  await schemas.prepare(runnables.flatMap(({ inputs, outputs }) => [inputs, outputs]));
}

/** Keeps the real stdout for answers; writes of the file and of `console` land on stderr until `release`. */
function takeStdout({ stdout, stderr }: HostStreams): HostOutput & { release(): Promise<void> } {
  const original = stdout.write;
  const write = original.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return {
    write: (text) => write(text),
    onceDrained: (callback) => void stdout.once('drain', callback),
    release: () =>
      new Promise((done) => {
        stdout.write = original;
        write('', () => done());
      }),
  };
}
