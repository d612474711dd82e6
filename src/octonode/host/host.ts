// Runs the nodes of one TypeScript or JavaScript file in this process: request lines in, answer lines out, until the end
// of input, many at a time. stdout is for answers alone: whatever else the file writes there goes to stderr instead.

import { extname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../support/clock.ts';
import { createSchemaChecker, type SchemaChecker } from '../schema-check.ts';
import { AnswerLines, type HostOutput } from './answer-lines.ts';
import type { Loaded } from './answer-request.ts';
import { readDefinitions } from './definitions.ts';
import { createInstances } from './instances.ts';
import { exportFailure, importFailure, stalledFailure } from './load-failure.ts';
import { provideSdkModule } from './sdk-module.ts';
import { messageOf, stackOf } from './thrown.ts';
import { watchUncaught } from './uncaught.ts';
import { watchReader } from './watch-reader.ts';

const STDOUT_FD = 1;

interface HostStreams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
}

/**
 * `ended` when the input ended, every request is answered, every service disposed and the last byte handed on. `failed` as
 * soon as something was thrown outside of every call: what is in flight was answered with it, nothing was disposed, and the
 * process must end, for nobody knows what state the file's own is in. `failed` also when nobody is left to read an answer: then
 * nothing is answered or disposed, and what the node started in its process group gets SIGTERM.
 */
export async function hostNodes(file: string, streams: HostStreams): Promise<'ended' | 'failed'> {
  const output = takeStdout(streams);
  const loadedUrls = provideSdkModule();
  const instances = createInstances((id, error) => {
    streams.stderr.write(`Cannot dispose service "${id}": ${stackOf(error).stack ?? messageOf(error)}\n`);
  });
  const schemas = createSchemaChecker();
  const failed = Promise.withResolvers<void>();
  let end: 'ended' | 'failed' = 'ended';
  watchUncaught((error) => {
    // Only the first counts: telling each could go on without end, where the telling itself fails or a timer throws for ever.
    if (end === 'failed') return;
    end = 'failed';
    if (lines.fail(error) === 0)
      streams.stderr.write(`Node threw outside of any call: ${stackOf(error).stack ?? messageOf(error)}\n`);
    failed.resolve();
  });
  const loaded = loadFile(resolve(file), loadedUrls);
  const lines = new AnswerLines(streams.stdin, output, { loaded, instances, schemas });
  watchReader(STDOUT_FD, systemClock, () => {
    end = 'failed';
    lines.abandon();
    failed.resolve();
    endOwnGroup();
  });
  void prepareAhead(streams.stdin, loaded, schemas);
  await lines.ended();
  if (end === 'ended') await Promise.race([failed.promise, instances.disposeAll()]);
  await output.release();
  return end;
}

async function loadFile(file: string, loadedUrls: ReadonlySet<string>): Promise<Loaded> {
  const stalled = Promise.withResolvers<undefined>();
  // Nothing is left that could happen in this process: who still waits, waits for ever.
  const stall = (): void => stalled.resolve(undefined);
  process.once('beforeExit', stall);
  let exported: Record<string, unknown> | undefined;
  try {
    // The one import that no bundler can foresee: the user's file.
    exported = await Promise.race([import(pathToFileURL(file).href), stalled.promise]);
    if (exported === undefined) return { status: 'failed', failure: stalledFailure(file) };
  } catch (error) {
    return { status: 'failed', failure: importFailure(error, { file, loadedUrls }) };
  } finally {
    process.removeListener('beforeExit', stall);
  }
  const language = extname(file).endsWith('ts') ? 'typescript' : 'javascript';
  try {
    return { status: 'ok', definitions: readDefinitions(exported, language) };
  } catch (error) {
    return { status: 'failed', failure: exportFailure(error, file) };
  }
}

/** What the engine would have done, had it not been killed: the group of this process, when it leads one. */
function endOwnGroup(): void {
  // The group -1 would be everybody.
  if (process.pid === 1) return;
  try {
    process.kill(-process.pid, 'SIGTERM');
  } catch {
    // It leads none.
  }
}

/**
 * When nothing was there to read by the time the file was loaded, the process was started ahead of its call: then there is
 * time to compile the schemas now.
 */
async function prepareAhead(
  input: Readable,
  loading: Promise<Loaded>,
  schemas: SchemaChecker,
): Promise<void> {
  let hasData = false;
  const note = (): void => {
    hasData = true;
  };
  input.once('data', note).once('end', note);
  const loaded = await loading;
  await new Promise<void>((turn) => setImmediate(turn));
  input.removeListener('data', note).removeListener('end', note);
  if (hasData || loaded.status === 'failed') return;
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
