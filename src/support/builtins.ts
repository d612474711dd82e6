// Modules of Node.js that cost start-up time, loaded by the first call that needs them: a daemon answers `hello`, and a
// command its `--help`, without them. node:crypto takes 3 to 5 ms, node:child_process 1 ms.

let crypto: typeof import('node:crypto') | undefined;
let childProcess: typeof import('node:child_process') | undefined;

/** node:crypto, the same object each time. */
export function loadCrypto(): typeof import('node:crypto') {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto;
}

/** node:child_process, the same object each time. Only `src/process/launcher.ts` starts a child. */
export function loadChildProcess(): typeof import('node:child_process') {
  childProcess ??= process.getBuiltinModule('node:child_process');
  return childProcess;
}
