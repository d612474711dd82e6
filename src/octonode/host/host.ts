// Runs the nodes of one TypeScript or JavaScript file in this process: request lines in, answer lines out, until the end
// of input, many at a time. stdout is for answers alone: whatever else the file writes there goes to stderr instead.

import { extname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { MAX_HOST_RUNNING, MAX_REQUEST_BYTES } from '../limits.ts';
import { LineReader } from '../line-reader.ts';
import { createSchemaChecker, type SchemaChecker } from '../schema-check.ts';
import { type AnswerDeps, answerBadLine, answerRequest, type Loaded } from './answer-request.ts';
import { readDefinitions } from './definitions.ts';
import { createInstances } from './instances.ts';
import { provideSdkModule } from './sdk-module.ts';

const SPACE = 0x20;

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
  const answered = answerLines({ input: streams.stdin, output, loaded, deps: { instances, schemas } });
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

interface Lines {
  input: Readable;
  output: HostOutput;
  loaded: Promise<Loaded>;
  deps: Omit<AnswerDeps, 'loaded'>;
}

function answerLines({ input, output, loaded, deps }: Lines): Promise<void> {
  const running = new Set<Promise<void>>();
  let batch = '';
  const flush = (): void => {
    const text = batch;
    batch = '';
    if (output.write(text)) return;
    // Nobody reads the answers: no more requests until somebody does.
    input.pause();
    output.onceDrained(() => input.resume());
  };
  const send = (text: string): void => {
    // Ticks come after all promises that are ready: one write for all answers of a turn.
    if (batch === '') process.nextTick(flush);
    batch += text;
  };
  const track = (pending: Promise<string>): void => {
    const answered = pending.then((reply) => {
      running.delete(answered);
      send(reply);
      if (running.size === MAX_HOST_RUNNING - 1) input.resume();
    });
    running.add(answered);
    if (running.size === MAX_HOST_RUNNING) input.pause();
  };
  let ready: AnswerDeps | undefined;
  const whenReady = loaded.then((nodes) => {
    ready = { ...deps, loaded: nodes };
    return ready;
  });
  const lines = new LineReader(MAX_REQUEST_BYTES, {
    onLine(text) {
      const mayBeBlank = text === '' || text.charCodeAt(0) <= SPACE;
      if (mayBeBlank && text.trim() === '') return;
      const answered =
        ready === undefined
          ? whenReady.then((nodes) => answerRequest(text, nodes))
          : answerRequest(text, ready);
      if (typeof answered === 'string') send(answered);
      else track(answered);
    },
    onBroken: () => send(answerBadLine('it is not UTF-8')),
    onOverflow: () => send(answerBadLine(`it is longer than ${MAX_REQUEST_BYTES} bytes`)),
  });
  return new Promise((done) => {
    const end = (): void => {
      lines.end();
      // After the flush that the last answer asked for.
      void Promise.all(running).then(() => process.nextTick(done));
    };
    input.on('data', (chunk: Buffer) => lines.push(chunk));
    input.once('end', end);
    input.once('error', end);
  });
}

interface HostOutput {
  /** False: wait for `onceDrained`. */
  write(text: string): boolean;
  onceDrained(callback: () => void): void;
  release(): Promise<void>;
}

/** Keeps the real stdout for answers; writes of the file and of `console` land on stderr until `release`. */
function takeStdout({ stdout, stderr }: HostStreams): HostOutput {
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
