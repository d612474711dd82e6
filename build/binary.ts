// From the bundle to one executable: Node.js 24 from the registry package with the bundle injected as a
// single executable application. Nothing is downloaded, and the result unpacks nothing when it runs.
import childProcess, { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { BUNDLE, ROOT } from './bundle.ts';

export const BINARY = `${ROOT}dist/burrow`;
const WORK = `${ROOT}dist/work`;

interface SeaModule {
  default(entry: string, options: object): Promise<void>;
}

/**
 * A fork copies the page tables of everything that was touched, and each page written afterwards is copied again: a small
 * young generation keeps that little. V8's helper threads contend with the children for the processors and gain a small
 * heap nothing. Together: 1.2 times the operations a second. Flags that change generated code (`--single-threaded`,
 * `--optimize-for-size`) make V8 refuse the code cache of Node.js's own modules: 5 ms of every start.
 */
const V8_FLAGS = ['--no-concurrent-recompilation', '--single-threaded-gc', '--max-semi-space-size=2'];

/** Builds `dist/burrow` for this machine and answers its size in bytes. Needs `dist/burrow.cjs`. */
export async function binary(): Promise<number> {
  const arch = process.arch;
  if (arch !== 'x64' && arch !== 'arm64')
    throw new Error(`Cannot build for ${arch}: only x64 and arm64 are supported`);
  mkdirSync(WORK, { recursive: true });
  const node = `${WORK}/node`;
  copyFileSync(createRequire(import.meta.url).resolve(`node-linux-${arch}/bin/node`), node);
  strip(node);
  const injected = `${WORK}/burrow`;
  const sea = await loadSea();
  await quietly(() =>
    sea(BUNDLE, {
      targets: [{ nodeRange: 'node24', platform: 'linux', arch, output: injected }],
      nodePath: node,
      signature: false,
      seaConfig: {
        disableExperimentalSEAWarning: true,
        useSnapshot: false,
        // Start-up with it: 0.84 of without. A start-up snapshot was slower.
        useCodeCache: true,
        // A stale `--require` in the caller's NODE_OPTIONS must not break a command.
        ...{ execArgvExtension: 'none', execArgv: V8_FLAGS },
      },
    }),
  );
  rmSync(BINARY, { force: true });
  // The injector writes the file at one go; the page cache then holds it in huge pieces that are mapped whole, and a
  // process started from it seems 17 MiB larger until the host reads the file afresh. A plain copy has no such pieces.
  await pipeline(createReadStream(injected), createWriteStream(BINARY));
  chmodSync(BINARY, 0o755);
  rmSync(WORK, { recursive: true, force: true });
  return statSync(BINARY).size;
}

/**
 * pkg's route to a single executable application. V8 refuses a code cache that was made under other flags than those it
 * runs with, and pkg has no way to hand flags to the Node.js that makes the cache: they are added to that one call.
 */
async function loadSea(): Promise<SeaModule['default']> {
  const plain = promisify(childProcess.execFile);
  const withFlags = (file: string, args: readonly string[] = []): ReturnType<typeof plain> =>
    plain(file, args[0] === '--experimental-sea-config' ? [...V8_FLAGS, ...args] : [...args]);
  const execFile = childProcess.execFile;
  childProcess.execFile = Object.assign((() => {}) as unknown as typeof execFile, {
    [promisify.custom]: withFlags,
  });
  const module = await import('@yao-pkg/pkg/lib-es5/sea.js');
  childProcess.execFile = execFile;
  // Node.js presents a CommonJS module as one default export, whose own `default` is pkg's.
  return (module.default as unknown as SeaModule).default;
}

/** Before the injection, never after it: an injected binary that is stripped crashes although strip reports success. */
function strip(file: string): void {
  if (!existsSync('/usr/bin/strip')) return;
  execFileSync('/usr/bin/strip', [file]);
}

/** pkg reports each step on stdout; only a failure is of interest here. */
async function quietly(work: () => Promise<void>): Promise<void> {
  const log = console.log;
  console.log = () => {};
  try {
    await work();
  } finally {
    console.log = log;
  }
}
