// What apt asks of a directory of packages: Packages, Release, and SHA256SUMS for people. It is served by any web server, or read
// from a disk: `deb [trusted=yes] file:/DIR ./`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export function createAptDirectory(directory: string, epochSeconds: number): void {
  const write = (name: string, data: string | Buffer): void => writeFileSync(join(directory, name), data);
  const packages = execFileSync('dpkg-scanpackages', ['--multiversion', '.'], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  write('Packages', packages);
  write('Packages.gz', gzipSync(packages, { level: 9 }));
  write('Release', release(directory, epochSeconds));
  const files = readdirSync(directory)
    .filter((name) => name !== 'SHA256SUMS')
    .toSorted();
  write('SHA256SUMS', files.map((name) => `${sha256(join(directory, name))}  ${name}\n`).join(''));
}

function release(directory: string, epochSeconds: number): string {
  const names = ['Packages', 'Packages.gz'];
  const sums = names.map((name) => {
    const data = readFileSync(join(directory, name));
    return ` ${createHash('sha256').update(data).digest('hex')} ${data.length} ${name}`;
  });
  return [
    'Origin: burrow',
    'Label: burrow',
    'Suite: stable',
    'Architectures: amd64 arm64',
    'Components: main',
    'Description: burrow, and nothing else',
    `Date: ${new Date(epochSeconds * 1_000).toUTCString().replace('GMT', 'UTC')}`,
    'SHA256:',
    ...sums,
    '',
  ].join('\n');
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
