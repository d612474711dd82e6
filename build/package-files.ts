// What a Debian package is filled with, in dist/package: the binary, manual pages, completions, notices. `debian/rules` calls it;
// BURROW_ARCH (x64 or arm64) and BURROW_TARGET_NODE (a Node.js binary of it) build for another machine.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, binary } from './binary.ts';
import { bundle, ROOT } from './bundle.ts';
import { completions } from './completions.ts';
import { manualPages } from './man.ts';
import { notices } from './notices.ts';

const TARGET = join(ROOT, 'dist/package');

const { inputs } = await bundle();
await binary(process.env['BURROW_ARCH'] || process.arch, process.env['BURROW_TARGET_NODE'] || undefined);
rmSync(TARGET, { recursive: true, force: true });
mkdirSync(join(TARGET, 'man'), { recursive: true });
copyFileSync(BINARY, join(TARGET, 'burrow'));
writeFileSync(join(TARGET, 'THIRD-PARTY-NOTICES'), notices(inputs));
for (const [name, text] of await manualPages(releaseDate())) writeFileSync(join(TARGET, 'man', name), text);
for (const [shell, script] of await completions()) writeFileSync(join(TARGET, `completion.${shell}`), script);

/** The day of the commit: the same source gives the same pages. */
function releaseDate(): string {
  const epochSeconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? Date.now() / 1_000);
  return new Date(epochSeconds * 1_000).toISOString().slice(0, 10);
}
