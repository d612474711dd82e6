// Projects that the tests of scanning make: healthy nodes in five languages and every way in which one can misbehave.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ScanOutcome, scanProject } from '../../../src/octonode/scan/scan.ts';
import { NODES, requireTool } from '../nodes.ts';

const HOST_ENTRY = new URL('../host-entry.ts', import.meta.url).pathname;

export function temporaryProject(files: Record<string, string> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'octonode-scan-'));
  for (const [name, text] of Object.entries(files)) put(directory, name, text);
  return directory;
}

/** A file beginning with `#!` is executable. */
export function put(directory: string, name: string, text: string): void {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (text.startsWith('#!')) chmodSync(path, 0o755);
}

/** A node in JavaScript, which needs nothing but burrow. */
export function node(id: string, more: object = {}): string {
  return `export default { ...${JSON.stringify(more)}, id: ${JSON.stringify(id)}, run: (inputs) => inputs };\n`;
}

/** A node in sh that answers a describe with this manifest, whatever it is. */
export function manifestNode(manifest: unknown): string {
  const text = JSON.stringify({ octonode: '1', type: 'manifest', invocationId: '@', status: 'ok', manifest });
  return `#!/bin/sh\nread -r line\nid=\${line#*\\"invocationId\\":\\"}\nid=\${id%%\\"*}\ncat <<'END' | sed "s/@/$id/"\n${text}\nEND\n`;
}

export async function scan(
  directory: string,
  more: Partial<Parameters<typeof scanProject>[0]> = {},
): Promise<Extract<ScanOutcome, { status: 'done' }>> {
  const outcome = await scanProject({
    path: join(directory, '.octonode'),
    check: false,
    env: process.env as Record<string, string>,
    own: [process.execPath, '--disable-warning=ExperimentalWarning', hostShim(directory)],
    timeoutMs: 10_000,
    jobs: 16,
    signal: new AbortController().signal,
    ...more,
  });
  if (outcome.status !== 'done') throw new Error(JSON.stringify(outcome));
  return outcome;
}

/** `node host FILE` as the binary takes it, from source. */
function hostShim(directory: string): string {
  const shim = join(directory, '.host.mjs');
  writeFileSync(shim, `process.argv.splice(2, 2);\nawait import(${JSON.stringify(HOST_ENTRY)});\n`);
  return shim;
}

export function projectText(directory: string): string {
  return readFileSync(join(directory, '.octonode'), 'utf8');
}

/** Ways to fail a describe, by file: 3 that hang, and one each of the others. */
export const BAD: Readonly<Record<string, string>> = {
  'nodes/bad/hang-1.sh': '#!/bin/sh\nsleep 600\n',
  'nodes/bad/hang-2.sh': '#!/bin/sh\ntrap "" TERM\nsleep 600 & sleep 600\n',
  'nodes/bad/hang-3.py': 'import time\ntime.sleep(600)\n',
  'nodes/bad/flood.sh': '#!/bin/sh\nyes\n',
  'nodes/bad/flood-stderr.sh': '#!/bin/sh\nyes >&2\n',
  'nodes/bad/crash.py': 'raise SystemExit("no configuration found")\n',
  'nodes/bad/segv.sh': '#!/bin/sh\nkill -SEGV $$\n',
  'nodes/bad/garbage.sh': '#!/bin/sh\necho hello\n',
  'nodes/bad/banner.sh': '#!/bin/sh\necho welcome; exec jq -c "{octonode, invocationId}"\n',
  'nodes/bad/missing-interpreter': '#!/nonexistent/interpreter\n',
  'nodes/bad/schema-type.sh': manifestNode({ id: 'schema-type', language: 'sh', inputs: { type: 'strnig' } }),
  'nodes/bad/schema-place.sh': manifestNode({
    id: 'p',
    language: 'sh',
    outputs: { properties: { a: 'text' } },
  }),
  'nodes/bad/schema-none.sh': manifestNode({ id: 'schema-none', language: 'sh', inputs: 'anything' }),
  'nodes/bad/no-id.sh': manifestNode({ language: 'sh' }),
  'nodes/bad/surrogate.js':
    'export default { id: "s", description: "x", defaults: { a: "\\ud800" }, run: () => 1 };\n',
};

/** `count` healthy nodes in TypeScript, Python, sh, C and Perl under `nodes/`; answers their ids. */
export function putHealthyNodes(directory: string, count: number): string[] {
  requireTool('jq', 'jq');
  requireTool('gcc', 'gcc libc6-dev');
  mkdirSync(join(directory, 'nodes'), { recursive: true });
  const languages = ['ts', 'py', 'sh', 'c', 'pl'];
  return Array.from({ length: count }, (_, index) => {
    const language = languages[index % languages.length] ?? 'ts';
    const id = `${language}-${index}`;
    const text = readFileSync(`${NODES}greet.${language}`, 'utf8').replace(
      /(["'\\ ])greet(\\?["'])/g,
      `$1${id}$2`,
    );
    if (language === 'c') compile(directory, id, text);
    else
      put(
        directory,
        `nodes/${id}.${language}`,
        text.replace(/id: "greet"/, `id: "${id}"`).replace(/id => 'greet'/, `id => '${id}'`),
      );
    return id;
  });
}

function compile(directory: string, id: string, text: string): void {
  const source = join(directory, `${id}.c`);
  writeFileSync(source, text);
  execFileSync('gcc', ['-o', join(directory, 'nodes', id), source]);
  copyFileSync('/dev/null', source);
}
