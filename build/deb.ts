// `npm run deb`: the Debian packages of both architectures and an apt-ready directory around them, in dist/deb. The same commit
// gives the same bytes. Each package is built by debhelper in a staged copy of the source.
//
//   --arch amd64|arm64   only one of them
//   --version V          under another version, as the package test needs a next one
//   --fast               compress less: for a test
//   --out DIR            instead of dist/deb
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createAptDirectory } from './apt-directory.ts';
import { ROOT, version } from './bundle.ts';

const NAME = 'burrow-host-gateway';
const NODE_ARCHITECTURE = { amd64: 'x64', arm64: 'arm64' } as const;
type DebianArchitecture = keyof typeof NODE_ARCHITECTURE;

const { values: options } = parseArgs({
  options: {
    arch: { type: 'string' },
    version: { type: 'string', default: version() },
    fast: { type: 'boolean', default: false },
    out: { type: 'string', default: join(ROOT, 'dist/deb') },
  },
});

const out = resolve(options.out);
const epochSeconds = commitTimeSeconds();
mkdirSync(out, { recursive: true });
for (const name of readdirSync(out)) rmSync(join(out, name), { recursive: true });
for (const architecture of chosenArchitectures()) buildPackage(architecture);
createAptDirectory(out, epochSeconds);

function chosenArchitectures(): DebianArchitecture[] {
  if (options.arch === undefined) return ['amd64', 'arm64'];
  if (options.arch === 'amd64' || options.arch === 'arm64') return [options.arch];
  throw new Error(`Cannot build for "${options.arch}": only amd64 and arm64 are supported`);
}

function buildPackage(architecture: DebianArchitecture): void {
  // dpkg-buildpackage writes its results beside the source directory.
  const stage = mkdtempSync(join(tmpdir(), 'burrow-deb-'));
  try {
    const source = stageSource(join(stage, `${NAME}-${options.version}`));
    runDpkg(source, architecture);
    const file = `${NAME}_${options.version}_${architecture}.deb`;
    copyFileSync(join(stage, file), join(out, file));
    report(join(source, 'dist/package/burrow'), join(out, file));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** dpkg and debhelper talk a lot: what they say is shown when they fail. */
function runDpkg(source: string, architecture: DebianArchitecture): void {
  const ran = spawnSync('dpkg-buildpackage', ['-b', '-us', '-uc', '-d', '-nc', `-a${architecture}`], {
    cwd: source,
    env: buildEnvironment(architecture),
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (ran.status === 0) return;
  console.error(ran.stdout, ran.stderr, ran.error?.message ?? '');
  throw new Error(`dpkg-buildpackage failed for ${architecture}`);
}

/** The files as they are now, less what git ignores. */
function stageSource(source: string): string {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  // Also where node_modules is a link, which the pattern for a directory does not cover.
  const isSource = (path: string): boolean => path !== '' && path !== 'node_modules';
  for (const path of listed.split('\0').filter((path) => isSource(path) && existsSync(join(ROOT, path)))) {
    mkdirSync(join(source, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(source, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  writeFileSync(join(source, 'debian/changelog'), changelog());
  return source;
}

function changelog(): string {
  const date = new Date(epochSeconds * 1_000).toUTCString().replace('GMT', '+0000');
  const text = readFileSync(join(ROOT, 'debian/changelog'), 'utf8');
  return text.replace(/\(.*?\)/, `(${options.version})`).replace(/^( -- .*?>).*$/m, `$1  ${date}`);
}

function buildEnvironment(architecture: DebianArchitecture): NodeJS.ProcessEnv {
  return {
    ...process.env,
    SOURCE_DATE_EPOCH: String(epochSeconds),
    DEB_BUILD_OPTIONS: 'nocheck',
    XZ_LEVEL: options.fast ? '1' : '6',
    BURROW_BUILD_VERSION: options.version,
    BURROW_ARCH: NODE_ARCHITECTURE[architecture],
    BURROW_TARGET_NODE: nodeFor(NODE_ARCHITECTURE[architecture]),
    // The staged copy has no history of its own; the binary names the commit it was made from.
    GIT_DIR: join(ROOT, '.git'),
  };
}

/** The Node.js of another architecture comes from the registry, in the version of the lock file: npm installs only this machine's. */
function nodeFor(architecture: string): string {
  const name = `node-linux-${architecture}`;
  const installed = join(ROOT, 'node_modules', name, 'bin/node');
  if (existsSync(installed)) return installed;
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`Package "${name}" is not in package-lock.json`);
  const directory = join(ROOT, 'dist/node', `${name}-${locked.version}`);
  const node = join(directory, 'package/bin/node');
  if (existsSync(node)) return node;
  mkdirSync(directory, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', `${name}@${locked.version}`], {
    cwd: directory,
    encoding: 'utf8',
  }).trim();
  const digest = execFileSync('openssl', ['dgst', '-sha512', '-binary', packed], { cwd: directory });
  if (`sha512-${digest.toString('base64')}` !== locked.integrity) {
    rmSync(directory, { recursive: true });
    throw new Error(`Package "${packed}" is not the one that package-lock.json names`);
  }
  execFileSync('tar', ['xzf', packed, 'package/bin/node'], { cwd: directory });
  rmSync(join(directory, packed));
  return node;
}

function commitTimeSeconds(): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined && given !== '') return Number(given);
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }));
}

function report(binary: string, file: string): void {
  const mebibytes = (path: string): string => `${(statSync(path).size / 1024 / 1024).toFixed(2)} MiB`;
  console.error(`Built ${file}: ${mebibytes(file)}; the binary in it: ${mebibytes(binary)}`);
}
