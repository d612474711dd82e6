import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNodeWorker, createWarmNode, describeNode, invokeNode } from '../../src/octonode/octonode.ts';
import { directory, errorOf, file, invoke } from './hosted-files.ts';
import { hosted, options, until } from './nodes.ts';

const NEVER = 'return new Promise(() => {});';
const THROW_LATE = "setTimeout(() => { throw new Error('late'); }, 10);";

function nodeFile(run: string, before = ''): string {
  return file(`${before}\nexport default defineNode({ id: 'n', run: async (input: any) => { ${run} } });`);
}

describe('hostNodes(), on a throw outside of every call', () => {
  it.each([
    ['a throw in a timer', `${THROW_LATE} ${NEVER}`, 'late'],
    ['a rejection that nobody awaits', `void Promise.reject(new Error('rejected')); ${NEVER}`, 'rejected'],
    ['a rejection without an error', `void Promise.reject('text'); ${NEVER}`, 'text'],
    ['a throw without a text', `setTimeout(() => { throw Object.create(null); }, 1); ${NEVER}`, /no text/],
    [
      'a NodeError, which is thrown too late to be one',
      `setTimeout(() => { throw new NodeError('no'); }, 1); ${NEVER}`,
      'no',
    ],
  ])('answers the call in progress: %s', async (_name, run, message) => {
    let stderr = '';
    const onStderr = (chunk: Buffer): void => {
      stderr += chunk;
    };

    const error = errorOf(await invokeNode(hosted(nodeFile(run)), {}, { ...options(), onStderr }));

    expect(error).toMatchObject({ code: 'RUNTIME_ERROR', retryable: false, details: { uncaught: true } });
    expect(error.message).toMatch(message);
    expect(stderr).toBe('');
  });

  it('carries the stack', async () => {
    expect(
      errorOf(await invokeNode(hosted(nodeFile(`${THROW_LATE} ${NEVER}`)), {}, options())).stack,
    ).toMatch(/Error: late\n +at .*node-\d+\.ts:\d+/);
  });

  it('answers with what was thrown before the file is loaded', async () => {
    const path = nodeFile(
      'return 1;',
      `${THROW_LATE}\nawait new Promise((done) => setTimeout(done, 10_000));`,
    );

    expect(errorOf(await invokeNode(hosted(path), {}, options()))).toMatchObject({ message: 'late' });
    expect(await describeNode(hosted(path), options())).toMatchObject({ error: { message: 'late' } });
  });

  it('answers the first request with what was thrown before it', async () => {
    let stderr = '';
    const onStderr = (chunk: Buffer): void => {
      stderr += chunk;
    };
    const warm = createWarmNode(hosted(nodeFile('return 1;', THROW_LATE)), { ...options(), onStderr });
    await until(() => stderr.includes('Error: late'));

    expect(errorOf(await warm.invoke({}))).toMatchObject({ message: 'late', retryable: false });
    await warm.close();
  });

  it('ends with its input although nobody reads what it tells', async () => {
    const flag = join(directory, 'flag');
    const watch = `import { existsSync, rmSync } from 'node:fs';
      console.log('loaded');
      setInterval(() => { if (existsSync('${flag}')) { rmSync('${flag}'); throw new Error('late'); } }, 5);`;
    const [program, ...args] = hosted(nodeFile('return 1;', watch));
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await once(child.stderr, 'data');
    child.stderr.destroy();

    writeFileSync(flag, '');
    await until(() => !existsSync(flag));
    child.stdin.end();

    expect(await ended).toEqual([1, null]);
  });

  it('lets an answer stand, tells the throw on stderr and exits with 1', async () => {
    let stderr = '';
    const warnings: string[] = [];
    const result = await invoke(
      "export default { id: 'n', run() { void Promise.reject(new Error('stray')); return 1; } };",
      {},
      {
        onStderr: (chunk) => {
          stderr += chunk;
        },
        onWarning: (sentence: string) => warnings.push(sentence),
      } as Parameters<typeof invoke>[2],
    );

    expect(result).toMatchObject({ status: 'ok', outputs: 1 });
    expect(stderr).toMatch(/^Node threw outside of any call: Error: stray\n +at /);
    expect(warnings).toEqual([expect.stringContaining('exit status 1')]);
  });

  it.each(['uncaughtException', 'unhandledRejection'])(
    'leaves it to a file that listens to %s',
    async (event) => {
      const cause = event === 'uncaughtException' ? THROW_LATE : "void Promise.reject('x');";
      const run = `const caught = new Promise((done) => process.once('${event}', () => done('caught'))); ${cause} return caught;`;

      expect(await invokeNode(hosted(nodeFile(run)), {}, options())).toMatchObject({ outputs: 'caught' });
    },
  );

  it('in a worker fails the calls in flight, retryable, and no other: the next go to a new process', async () => {
    const path = nodeFile(
      `if (input === 'bad') { ${THROW_LATE} } if (input !== 'pid') ${NEVER} return process.pid;`,
    );
    const worker = createNodeWorker(hosted(path), { ...options(), concurrency: 3 });
    const pid = (await worker.invoke('pid')) as { outputs: number };

    const inFlight = ['wait', 'bad', 'wait'].map((input) => worker.invoke(input));
    const queued = Array.from({ length: 20 }, () => worker.invoke('pid'));

    for (const call of inFlight)
      expect(errorOf(await call)).toMatchObject({ code: 'RUNTIME_ERROR', message: 'late', retryable: true });
    for (const call of queued) {
      const result = await call;
      expect(result).toMatchObject({ status: 'ok' });
      expect(result).not.toMatchObject({ outputs: pid.outputs });
    }
    expect(worker.status()).toMatchObject({ starts: 2, quickDeaths: 0 });
    await worker.close();
  });

  it('ends an idle worker, and the next call starts another', async () => {
    const worker = createNodeWorker(hosted(nodeFile(`${THROW_LATE} return 1;`)), options());

    expect(await worker.invoke({})).toMatchObject({ outputs: 1 });
    await until(() => worker.status().pid === undefined);
    expect(await worker.invoke({})).toMatchObject({ outputs: 1 });
    expect(worker.status()).toMatchObject({ starts: 2 });
    await worker.close();
  });
});
