// The notices of everything that the binary carries: Node.js with what it contains, and each package in the bundle. A package
// without a licence text fails the build.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bundle.ts';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

/** `inputs`: the files in the bundle. */
export function notices(inputs: readonly string[]): string {
  const node = createNodeSection();
  const packages = packageDirectories(inputs).map(packageSection);
  const head =
    'burrow is under the MIT licence. It carries the following software, each under the terms that stand with it.';
  return `${[head, node, ...packages].join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}

/** `node_modules/ajv`, `node_modules/@opentelemetry/api`, nested ones as well; in a stable order. */
export function packageDirectories(inputs: readonly string[]): string[] {
  const directories = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(directories.filter((path) => path !== undefined))].toSorted();
}

function createNodeSection(): string {
  const directory = readdirSync(join(ROOT, 'node_modules')).find((name) => /^node-linux-/.test(name));
  if (directory === undefined) throw new Error('No node-linux-* package is installed: run npm ci');
  return `Node.js ${process.versions.node}\n\n${readFileSync(join(ROOT, 'node_modules', directory, 'LICENSE'), 'utf8').trim()}`;
}

function packageSection(directory: string): string {
  const path = join(ROOT, directory);
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const files = existsSync(path) ? readdirSync(path).filter((file) => LICENCE_FILE.test(file)) : [];
  if (files.length === 0)
    throw new Error(`Package "${directory}" has no licence text: add it to the notices`);
  const texts = files.toSorted().map((file) => readFileSync(join(path, file), 'utf8').trim());
  return [`${String(name)} ${String(version)} (${String(license)})`, ...texts].join('\n\n');
}
