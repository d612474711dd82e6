// From source to one minified CommonJS script: what the binary carries, and what `node dist/burrow.cjs` can run.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

export const ROOT = new URL('..', import.meta.url).pathname;
export const BUNDLE = `${ROOT}dist/burrow.cjs`;

/** Of package.json, unless BURROW_BUILD_VERSION names another: the package test needs a next version to upgrade to. */
export function version(): string {
  const named = process.env['BURROW_BUILD_VERSION'];
  if (named !== undefined && named !== '') return named;
  return (JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string }).version;
}

/** Values that the source reads as constants; `vitest.config.ts` defines the same ones. */
export function constants(): Record<string, string> {
  return { BURROW_VERSION: JSON.stringify(version()), BURROW_COMMIT: JSON.stringify(commit()) };
}

export interface Bundle {
  sizeBytes: number;
  /** Paths of the files that went in, relative to the root. */
  inputs: readonly string[];
}

/** Bundles `src/main.ts` to `dist/burrow.cjs`. */
export async function bundle(): Promise<Bundle> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/main.ts'],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minify: true,
    keepNames: true,
    legalComments: 'none',
    define: constants(),
    // OpenTelemetry's exporter asks for these by `import()`, which starts the loader of ES modules: 4 MiB, and with them a
    // dearer fork of every operation.
    alias: { http: `${ROOT}build/builtin-http.ts`, https: `${ROOT}build/builtin-https.ts` },
    metafile: true,
    logLevel: 'warning',
  });
  const outputs = Object.values(result.metafile.outputs);
  return {
    sizeBytes: outputs.reduce((sum, output) => sum + output.bytes, 0),
    inputs: outputs.flatMap((output) => Object.keys(output.inputs)),
  };
}

function commit(): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', 'src', 'package.json') !== '';
    return git('rev-parse', '--short=12', 'HEAD') + (changed ? '+changes' : '');
  } catch {
    // A source archive has no history; the binary then says so.
    return 'unknown';
  }
}
