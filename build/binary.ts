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
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { BUNDLE, ROOT } from './bundle.ts';

export const BINARY = `${ROOT}dist/burrow`;
/** Of this process: two builds in one checkout must not meet. */
const WORK = `${ROOT}dist/work-${process.pid}`;

export type Architecture = 'x64' | 'arm64';

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

/** The name of the script in the binary: the path of the bundle would make it depend on where it was built. */
const MAIN_NAME = 'burrow.cjs';
/** V8 draws the seed of its string hashes, which the code cache holds. This flag alone does not make it refuse the cache later. */
const SAME_CACHE_FLAG = '--random-seed=1';

/**
 * Builds `dist/burrow` and answers its size in bytes: for this machine, or for `arch` around `targetNode`, the Node.js of that
 * architecture in exactly the version that runs here. Needs `dist/burrow.cjs`. The same bundle gives the same bytes.
 */
export async function binary(
  arch: string = process.arch,
  targetNode = createRequire(import.meta.url).resolve(`node-linux-${arch}/bin/node`),
): Promise<number> {
  if (arch !== 'x64' && arch !== 'arm64')
    throw new Error(`Cannot build for ${arch}: only x64 and arm64 are supported`);
  mkdirSync(WORK, { recursive: true });
  const node = `${WORK}/node`;
  copyFileSync(targetNode, node);
  strip(node, arch);
  const injected = `${WORK}/burrow`;
  const sea = await loadSea({ isForeign: arch !== process.arch });
  await quietly(() =>
    sea(BUNDLE, {
      targets: [{ nodeRange: 'node24', platform: 'linux', arch, output: injected }],
      nodePath: node,
      signature: false,
      seaConfig: {
        main: MAIN_NAME,
        disableExperimentalSEAWarning: true,
        useSnapshot: false,
        // Start-up with it: 0.84 of without. A start-up snapshot was slower.
        // A foreign processor's cache cannot be made here.
        useCodeCache: arch === process.arch,
        // SIGUSR1 would open a debugger on a local port, to every user of the host.
        // A stale `--require` in the caller's NODE_OPTIONS must not break a command.
        // Node.js looks through all arguments, ours too, for its own `--env-file`, and stops at `--`. Nothing stops it for
        // `--experimental-config-file` and `--experimental-default-config-file`: no argument of anyone's can have these names.
        ...{ execArgvExtension: 'none', execArgv: [...V8_FLAGS, '--disable-sigusr1', '--'] },
      },
    }),
  );
  // The injector writes the file at one go; the page cache then holds it in huge pieces that are mapped whole, and a
  // process started from it seems 17 MiB larger until the host reads the file afresh. A plain copy has no such pieces.
  const finished = `${WORK}/finished`;
  await pipeline(createReadStream(injected), createWriteStream(finished));
  chmodSync(finished, 0o755);
  // Whoever runs the one before goes on with it.
  renameSync(finished, BINARY);
  rmSync(WORK, { recursive: true, force: true });
  return statSync(BINARY).size;
}

/**
 * pkg's route to a single executable application. V8 refuses a code cache that was made under other flags than those it
 * runs with, and pkg has no way to hand flags to the Node.js that makes the cache: they are added to that one call.
 */
async function loadSea({ isForeign }: { isForeign: boolean }): Promise<SeaModule['default']> {
  const plain = promisify(childProcess.execFile);
  const withFlags = (file: string, args: readonly string[] = []): ReturnType<typeof plain> =>
    args[0] === '--experimental-sea-config' ? blob(file, args) : version(file, args);
  // pkg asks the Node.js it packs for its version, which a foreign one cannot answer: it has to be this one's anyway.
  const version = (file: string, args: readonly string[]): ReturnType<typeof plain> =>
    isForeign && args[0] === '--version'
      ? (Promise.resolve({ stdout: `${process.version}\n`, stderr: '' }) as ReturnType<typeof plain>)
      : plain(file, [...args]);
  // It runs in a temporary directory of pkg's, where the script gets a name that is the same on every machine.
  const blob = (file: string, args: readonly string[]): ReturnType<typeof plain> => {
    copyFileSync(BUNDLE, MAIN_NAME);
    return plain(file, [...V8_FLAGS, SAME_CACHE_FLAG, ...args]);
  };
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
function strip(file: string, arch: Architecture): void {
  const isForeign = arch !== process.arch;
  const program = `/usr/bin/${isForeign ? `${arch === 'arm64' ? 'aarch64' : 'x86-64'}-linux-gnu-` : ''}strip`;
  if (existsSync(program)) execFileSync(program, [file]);
  else console.error(`No ${program}: the binary stays 18 MiB larger than it need be`);
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
