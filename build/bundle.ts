// From source to one minified CommonJS script: what the binary carries, and what `node dist/burrow.cjs` can run.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

export const ROOT = new URL('..', import.meta.url).pathname;
export const BUNDLE = `${ROOT}dist/burrow.cjs`;

/** Values that the source reads as constants; `vitest.config.ts` defines the same ones. */
export function constants(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
  return { BURROW_VERSION: JSON.stringify(version), BURROW_COMMIT: JSON.stringify(commit()) };
}

/** Bundles `src/main.ts` to `dist/burrow.cjs` and answers its size in bytes. */
export async function bundle(): Promise<number> {
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
    metafile: true,
    logLevel: 'warning',
  });
  return Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
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
