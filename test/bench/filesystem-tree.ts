// What the filesystem figures are measured on, and the system's own programs that they are measured against.
import { spawn } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORIES = 200;
const FILES_PER_DIRECTORY = 15;
const FILE_BYTES = 8 * 1024;
const BIG_FILE_MIB = 200;
const SPARSE_BYTES = 2 * 1024 ** 3;

export const FILE_COUNT = DIRECTORIES * FILES_PER_DIRECTORY;
/** Occurs in every hundredth file of the tree and four times in the big file. */
export const NEEDLE = 'needle_in_the_haystack';

const WORDS =
  'alpha beta gamma delta function return const import export value index result search file path'.split(' ');

/** 3,000 files of source-like text, 24 MB in all, in 200 directories below ten. Returns the root. */
export function makeTree(base: string): string {
  const root = join(base, 'tree');
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    const path = join(root, `group-${Math.floor(directory / 20)}`, `directory-${directory}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_PER_DIRECTORY; file += 1) {
      const index = directory * FILES_PER_DIRECTORY + file;
      const end = index % 100 === 0 ? `${NEEDLE}\n` : '';
      writeFileSync(join(path, `file-${file}.ts`), sourceText(index, FILE_BYTES) + end);
    }
  }
  return root;
}

/** One file of 200 MB in a directory of its own. Returns the directory. */
export function makeBigFile(base: string): string {
  const root = join(base, 'big');
  mkdirSync(root);
  const block = sourceText(1, 1024 * 1024);
  const fd = openSync(join(root, 'big.txt'), 'w');
  for (let index = 1; index <= BIG_FILE_MIB; index += 1) {
    writeSync(fd, block);
    if (index % 50 === 0) writeSync(fd, `${NEEDLE}\n`);
  }
  closeSync(fd);
  return root;
}

/** A file of 2 GiB that takes no room. Returns its path. */
export function makeSparseFile(base: string): string {
  const path = join(base, 'sparse');
  const fd = openSync(path, 'w');
  ftruncateSync(fd, SPARSE_BYTES);
  closeSync(fd);
  return path;
}

/** Wall time in milliseconds of a program from its start to its end, its output read and thrown away. */
export function timeProgram(file: string, args: readonly string[]): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    child.once('error', reject);
    child.once('close', (exitCode) => {
      if (exitCode === 0) resolve(performance.now() - start);
      else reject(new Error(`${file} ended with ${exitCode}`));
    });
  });
}

/** Lines of 20 to 80 characters, the same for the same seed. */
function sourceText(seed: number, sizeBytes: number): string {
  let state = seed + 1;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  let text = '';
  while (text.length < sizeBytes) {
    const words = Array.from({ length: 3 + next(10) }, () => WORDS[next(WORDS.length)]);
    text += `${words.join(' ')}\n`;
  }
  return `${text.slice(0, sizeBytes - 1)}\n`;
}
