// What has to be copied to a host: the binary and, when `npm run deb` made them, the packages.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY } from './daemon.ts';
import type { Bench, Figure } from './figure.ts';

const PACKAGES = 'dist/deb';
/** Node.js alone, stripped, is 108 MiB, and 27 MiB as a package. */
const MAX_BINARY_MIB = 115;
const MAX_PACKAGE_MIB = 32;

export const size: Bench = {
  name: 'size',
  async run() {
    const packages = existsSync(PACKAGES)
      ? readdirSync(PACKAGES).filter((name) => name.endsWith('.deb'))
      : [];
    return [
      figure('size of the binary', BINARY, MAX_BINARY_MIB),
      ...packages.map((name) => figure(`size of ${name}`, join(PACKAGES, name), MAX_PACKAGE_MIB)),
    ];
  },
};

function figure(name: string, path: string, limitMiB: number): Figure {
  const value = statSync(path).size / 1024 / 1024;
  return { name, value, unit: 'MiB', limit: { kind: 'max', value: limitMiB }, detail: path };
}
