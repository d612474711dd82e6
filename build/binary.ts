// From the bundle to one executable: Node.js 24 from the registry package with the bundle injected as a
// single executable application. Nothing is downloaded, and the result unpacks nothing when it runs.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import sea from '@yao-pkg/pkg/lib-es5/sea.js';
import { BUNDLE, ROOT } from './bundle.ts';

export const BINARY = `${ROOT}dist/burrow`;
const WORK = `${ROOT}dist/work`;

/** Builds `dist/burrow` for this machine and answers its size in bytes. Needs `dist/burrow.cjs`. */
export async function binary(): Promise<number> {
  const arch = process.arch;
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`Cannot build for ${arch}: only x64 and arm64 are supported`);
  mkdirSync(WORK, { recursive: true });
  const node = `${WORK}/node`;
  copyFileSync(createRequire(import.meta.url).resolve(`node-linux-${arch}/bin/node`), node);
  strip(node);
  rmSync(BINARY, { force: true });
  await quietly(() =>
    // The default export of a CommonJS module that Node.js presents as an object with `default`.
    (sea as unknown as { default: typeof sea.default }).default(BUNDLE, {
      targets: [{ nodeRange: 'node24', platform: 'linux', arch, output: BINARY }],
      nodePath: node,
      signature: false,
      seaConfig: {
        disableExperimentalSEAWarning: true,
        useSnapshot: false,
        // Start-up with it: 0.84 of without. A start-up snapshot was slower.
        useCodeCache: true,
        // A stale `--require` in the caller's NODE_OPTIONS must not break a command.
        ...{ execArgvExtension: 'none' },
      },
    }),
  );
  rmSync(WORK, { recursive: true, force: true });
  return statSync(BINARY).size;
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
