// Asks programs what they are, side by side: at most `jobs` at once, each with a deadline of its own. Whatever one does
// (hang, flood, crash, answer garbage) becomes one failure of that one and costs the others nothing.

import { createNodeDeps, describeNode, type ManifestEnvelope, type NodeManifest } from '../octonode.ts';
import { isNodeId, type JsonObject } from '../project/project.ts';
import { runnableCommand } from './file-command.ts';
import { signatureOf } from './signature.ts';
import type { Source } from './sources.ts';

/** A manifest is a page of text; more is a flood. */
const MAX_MANIFEST_BYTES = 1024 * 1024;
/** Nodes of one program; more are not asked for. */
const MAX_NODES_OF_PROGRAM = 256;

export interface FoundNode {
  source: Source;
  id: string;
  signature: JsonObject;
  /** For `presentation`, once. */
  seeds: JsonObject;
}

export interface FailedSource {
  source: Source;
  /** The id, when it is known. */
  id: string | undefined;
  code: string;
  message: string;
  stderrTail: string;
}

export interface DescribeOptions {
  directory: string;
  env: Readonly<Record<string, string>>;
  /** What starts burrow itself. */
  own: readonly [string, ...string[]];
  timeoutMs: number;
  jobs: number;
  signal: AbortSignal;
  onProgress?: ((progress: { done: number; total: number; running: readonly string[] }) => void) | undefined;
}

export interface Descriptions {
  /** In the order of the sources. */
  found: FoundNode[];
  failed: FailedSource[];
}

type Answer = { found: FoundNode[]; failed: FailedSource[] };

export async function describeSources(
  sources: readonly Source[],
  options: DescribeOptions,
): Promise<Descriptions> {
  const deps = createNodeDeps();
  const answers: (Answer | undefined)[] = sources.map(() => undefined);
  const running = new Set<string>();
  let next = 0;
  let done = 0;
  const tell = (): void => options.onProgress?.({ done, total: sources.length, running: [...running] });
  const lane = async (): Promise<void> => {
    while (next < sources.length && !options.signal.aborted) {
      const index = next;
      next += 1;
      const source = sources[index];
      if (source === undefined) return;
      running.add(source.name);
      tell();
      answers[index] = await describeSource(source, { ...options, deps });
      running.delete(source.name);
      done += 1;
      tell();
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.jobs, sources.length) }, lane));
  return {
    found: answers.flatMap((answer) => answer?.found ?? []),
    failed: answers.flatMap((answer) => answer?.failed ?? []),
  };
}

type Settings = DescribeOptions & { deps: ReturnType<typeof createNodeDeps> };

/** A program that holds several nodes names them all in its first answer, and is asked for each. */
async function describeSource(source: Source, settings: Settings): Promise<Answer> {
  const { clock } = settings.deps;
  const deadlineAtMs = clock.monotonicMs() + settings.timeoutMs;
  const first = await ask(source, undefined, { ...settings, timeoutMs: settings.timeoutMs });
  if (first.status === 'error') return { found: [], failed: [failureOf(source, undefined, first)] };
  const answer: Answer = { found: [], failed: [] };
  await take(answer, source, { manifest: first.manifest, settings });
  for (const node of otherNodes(first.manifest)) {
    const timeoutMs = Math.max(1, deadlineAtMs - clock.monotonicMs());
    const envelope = await ask(source, node, { ...settings, timeoutMs });
    if (envelope.status === 'error') answer.failed.push(failureOf(source, node, envelope));
    else await take(answer, source, { manifest: envelope.manifest, settings });
  }
  return answer;
}

function ask(source: Source, node: string | undefined, settings: Settings): Promise<ManifestEnvelope> {
  const { directory, env, own, deps, timeoutMs, signal } = settings;
  return describeNode(runnableCommand(source.command, own), {
    cwd: source.cwd === undefined ? directory : `${directory}/${source.cwd}`,
    env,
    deps,
    timeoutMs,
    signal,
    maxAnswerBytes: MAX_MANIFEST_BYTES,
    ...(node === undefined ? {} : { node }),
  });
}

async function take(
  answer: Answer,
  source: Source,
  { manifest, settings }: { manifest: NodeManifest; settings: Settings },
): Promise<void> {
  const fail = (message: string): void =>
    void answer.failed.push({ source, id: manifest.id, code: 'VALIDATION_ERROR', message, stderrTail: '' });
  if (!isNodeId(manifest.id))
    return fail(`Id ${JSON.stringify(manifest.id.slice(0, 80))} cannot be recorded`);
  try {
    const signature = signatureOf(manifest, source);
    const reason = await brokenSchema(manifest, settings);
    if (reason !== undefined) return fail(reason);
    answer.found.push({ source, id: manifest.id, signature, seeds: seedsOf(manifest) });
  } catch (error) {
    fail(`Manifest cannot be recorded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A sentence about the first schema of the manifest that no value can be checked with. */
async function brokenSchema(manifest: NodeManifest, { deps }: Settings): Promise<string | undefined> {
  const methods = manifest.service?.methods ?? [];
  const named: [string, unknown][] = [
    ['inputs', manifest.inputs],
    ['outputs', manifest.outputs],
    ...methods.flatMap(({ name, inputs, outputs }): [string, unknown][] => [
      [`inputs of method ${name}`, inputs],
      [`outputs of method ${name}`, outputs],
    ]),
  ];
  for (const [name, schema] of named) {
    const reason = await deps.schemas.problemOf(schema);
    if (reason !== undefined) return `Schema of ${name} cannot be used: ${reason}`;
  }
  return undefined;
}

function otherNodes(manifest: NodeManifest): string[] {
  const nodes: unknown = manifest['nodes'];
  if (!Array.isArray(nodes)) return [];
  const names = nodes.filter((name) => typeof name === 'string' && name !== manifest.id);
  return [...new Set<string>(names)].slice(0, MAX_NODES_OF_PROGRAM);
}

function seedsOf({ icon, config }: NodeManifest): JsonObject {
  // It came as JSON.
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(config === undefined ? {} : { config }),
  } as JsonObject;
}

function failureOf(source: Source, id: string | undefined, envelope: ManifestEnvelope): FailedSource {
  if (envelope.status === 'ok') throw new Error('An answer is no failure');
  const { code, message, details } = envelope.error;
  const tail =
    typeof details === 'object' && details !== null && 'stderrTail' in details ? details.stderrTail : '';
  return { source, id, code, message, stderrTail: typeof tail === 'string' ? tail : '' };
}
