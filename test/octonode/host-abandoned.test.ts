// A hosted node whose engine is gone: nobody tells it, so it has to notice by itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { directory, file } from './hosted-files.ts';
import { hosted, until } from './nodes.ts';

const BUSY = 'setInterval(() => {}, 1_000); return new Promise(() => {});';
const REQUEST = '{"octonode":"1","type":"invoke","invocationId":"i","node":"n","inputs":{}}\n';

let started = 0;

/** A host of a node that says when it runs; answers once it does. */
async function host(run: string): Promise<{ child: ChildProcess; ended: Promise<unknown[]>; mark: string }> {
  started += 1;
  const mark = join(directory, `runs-${started}`);
  const source = `import { spawn } from 'node:child_process';\nimport { writeFileSync } from 'node:fs';
    export default { id: 'n', run() { writeFileSync(${JSON.stringify(mark)}, ''); ${run} } };`;
  const [program, ...args] = hosted(file(source, 'mjs'));
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  child.stdin?.write(REQUEST);
  await until(() => existsSync(mark));
  return { child, ended, mark };
}

describe('hostNodes(), when nobody is left to read', () => {
  it.each([
    ['with a call in flight and its input open', false],
    ['with a call in flight after the end of input', true],
  ])('ends %s', async (_name, endsInput) => {
    const { child, ended } = await host(BUSY);
    if (endsInput) child.stdin?.end();

    child.stdout?.destroy();

    expect(await ended).toEqual(expect.arrayContaining([null, 'SIGTERM']));
  });

  it('ends also a node that listens to SIGTERM', async () => {
    const { child, ended } = await host(`process.on('SIGTERM', () => {}); ${BUSY}`);

    child.stdout?.destroy();

    expect(await ended).toEqual([1, null]);
  });

  it('ends what the node started', async () => {
    const pidFile = join(directory, 'sleeper');
    const { child } = await host(
      `writeFileSync(${JSON.stringify(pidFile)}, String(spawn('sleep', ['600'], { stdio: 'ignore' }).pid)); ${BUSY}`,
    );
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    onTestFinished(() => {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    });

    child.stdout?.destroy();

    await until(() => !isRunning(pid));
  });

  it('goes on while somebody reads, although its parent is gone', async () => {
    const path = file(
      "export default { id: 'n', run: () => new Promise((done) => setTimeout(done, 2_500, 7)) };",
    );
    const background = ['-c', '"$@" <&3 3<&- & exit 0', 'sh', ...hosted(path)];
    const child = spawn('sh', background, { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    (child.stdio[3] as NodeJS.WritableStream).end(REQUEST);
    let answer = '';
    child.stdout?.on('data', (chunk) => {
      answer += chunk;
    });
    await once(child, 'exit');

    await once(child, 'close');

    expect(JSON.parse(answer)).toMatchObject({ outputs: 7 });
  });

  it('goes on when its answers go to a file', async () => {
    const path = file(
      "export default { id: 'n', run: () => new Promise((done) => setTimeout(done, 1_500, 7)) };",
    );
    const answers = join(directory, 'answers');
    const [program, ...args] = hosted(path);
    const child = spawn(program, args, { stdio: ['pipe', openSync(answers, 'w'), 'inherit'] });
    child.stdin?.end(REQUEST);

    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(JSON.parse(readFileSync(answers, 'utf8'))).toMatchObject({ outputs: 7 });
  });
});

/** Not what ended and only waits for its parent to look. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
