// The figures of the filesystem tools, measured through any way of calling them: list and find against `find`, search
// against `grep -rnF`, and a page of a huge file against `hello`.
import type { Figure } from './figure.ts';
import { compare } from './figure.ts';
import { FILE_COUNT, makeBigFile, makeSparseFile, makeTree, NEEDLE, timeProgram } from './filesystem-tree.ts';

const ROUNDS = 11;
const BIG_ROUNDS = 7;
/** Calls timed together where one call is too short to be timed alone. */
const BATCH_CALLS = 40;
const PAGE_BYTES = 64 * 1024;

/** A way to the filesystem tools, such as a gateway client or the tools themselves. */
export interface FilesystemSubject {
  /** Runs a tool; resolves to its outcome. */
  call(tool: string, toolArguments: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The shortest round trip there is. */
  hello(): Promise<void>;
  /** Resident memory of the process that does the work. */
  residentMiB(): number;
}

export async function measureFilesystem(subject: FilesystemSubject, base: string): Promise<Figure[]> {
  const tree = makeTree(base);
  const big = makeBigFile(base);
  const sparse = makeSparseFile(base);
  const bounds = { maxTraversalEntries: 10_000, maxEntries: 10_000 };
  const listing = { dirPath: tree, ...bounds };
  return [
    await againstFind(
      subject,
      'files_list',
      { tool: 'files_list', arguments: listing, field: 'entries' },
      tree,
    ),
    await againstFind(
      subject,
      'files_find',
      { tool: 'files_find', arguments: { ...listing, pattern: '**/*.ts' }, field: 'paths' },
      tree,
    ),
    ...(await againstGrep(subject, {
      name: 'a 24 MB tree',
      root: tree,
      matches: FILE_COUNT / 100,
      ratio: 3,
      rounds: ROUNDS,
    })),
    ...(await againstGrep(subject, {
      name: 'a 200 MB file',
      root: big,
      matches: 4,
      ratio: 2,
      rounds: BIG_ROUNDS,
    })),
    ...(await readAgainstHello(subject, sparse)),
  ];
}

interface Asked {
  tool: string;
  arguments: Record<string, unknown>;
  /** The list in the outcome that must hold at least all files. */
  field: string;
}

async function againstFind(
  subject: FilesystemSubject,
  name: string,
  asked: Asked,
  tree: string,
): Promise<Figure> {
  const result = await compare(
    ROUNDS,
    () => timeCall(subject, asked, FILE_COUNT),
    () => timeProgram('find', [tree]),
  );
  return ratioFigure(`${name} of 3,000 files, time of find`, result, 3);
}

async function againstGrep(
  subject: FilesystemSubject,
  searched: { name: string; root: string; matches: number; ratio: number; rounds: number },
): Promise<Figure[]> {
  const query = { dirPath: searched.root, query: NEEDLE, maxTraversalEntries: 10_000 };
  const asked = { tool: 'files_search', arguments: query, field: 'matches' };
  const idleMiB = subject.residentMiB();
  let peakMiB = idleMiB;
  const result = await compare(
    searched.rounds,
    async () => {
      const watch = setInterval(() => {
        peakMiB = Math.max(peakMiB, subject.residentMiB());
      }, 2);
      const elapsedMs = await timeCall(subject, asked, searched.matches).finally(() => clearInterval(watch));
      peakMiB = Math.max(peakMiB, subject.residentMiB());
      return elapsedMs;
    },
    () => timeProgram('grep', ['-rnF', NEEDLE, searched.root]),
  );
  return [
    ratioFigure(`files_search of ${searched.name}, time of grep -rnF`, result, searched.ratio),
    memoryFigure(`memory of searching ${searched.name}, above idle`, peakMiB - idleMiB, 40),
  ];
}

async function readAgainstHello(subject: FilesystemSubject, filePath: string): Promise<Figure[]> {
  // As base64: the hole is all zero bytes, and as text each of them takes six characters of JSON.
  const page = { filePath, offsetBytes: 1024 ** 3, maxBytes: PAGE_BYTES, encoding: 'base64' };
  const asked = { tool: 'files_read', arguments: page, field: 'content' };
  await timeCall(subject, asked, PAGE_BYTES);
  const idleMiB = subject.residentMiB();
  await timeCall(subject, asked, PAGE_BYTES);
  const addedMiB = subject.residentMiB() - idleMiB;
  const result = await compare(
    ROUNDS,
    () => timeBatch(() => timeCall(subject, asked, PAGE_BYTES)),
    () => timeBatch(() => subject.hello()),
  );
  return [
    ratioFigure('64 KiB read at 1 GiB of 2 GiB, round trip of hello', result, 3),
    memoryFigure('memory of that read', addedMiB, 4),
  ];
}

/** Milliseconds of one call. Throws when it failed or found too little: a bench must not time failures. */
async function timeCall(subject: FilesystemSubject, asked: Asked, atLeast: number): Promise<number> {
  const start = performance.now();
  const outcome = await subject.call(asked.tool, asked.arguments);
  const elapsedMs = performance.now() - start;
  const found = outcome[asked.field];
  const length = typeof found === 'string' || Array.isArray(found) ? found.length : 0;
  if (outcome.ok !== true || length < atLeast) {
    throw new Error(`${asked.tool} found ${length} of ${atLeast}: ${JSON.stringify(outcome).slice(0, 500)}`);
  }
  return elapsedMs;
}

async function timeBatch(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let count = 0; count < BATCH_CALLS; count += 1) await run();
  return (performance.now() - start) / BATCH_CALLS;
}

function ratioFigure(name: string, result: { a: number; b: number; ratio: number }, limit: number): Figure {
  const detail = `${result.a.toFixed(2)} ms to ${result.b.toFixed(2)} ms`;
  return { name, value: result.ratio, unit: '×', limit: { kind: 'max', value: limit }, detail };
}

function memoryFigure(name: string, value: number, limit: number): Figure {
  return { name, value, unit: 'MiB', limit: { kind: 'max', value: limit }, detail: 'VmRSS' };
}
