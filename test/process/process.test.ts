import { describe, expect, it } from 'vitest';
import { exec, run, shell } from './run.ts';

describe('runProcess()', () => {
  it('tells start, output and end in this order', async () => {
    const it = run(shell('echo out; echo err >&2'));
    const evidence = await it.end;
    expect(it.order[0]).toBe('started');
    expect(it.order.at(-1)).toBe('end');
    expect(evidence).toMatchObject({ exitCode: 0, stdout: 'out\n', stderr: 'err\n' });
  });
  it('x', async () => {
    console.log(await run(shell('printf half; sleep 30 | cat', {timeoutMs: 500})).end);
    console.log(await run(shell('sleep 2 & echo up')).end);
    console.log(await run(shell('yes')).end.then(e=>({...e,stdout:e.stdout.length})));
    console.log(await run(exec('nope')).refused, (await run(exec('true',[],{cwd:'/nope'})).refused).message);
    console.log((await run(exec('true',[],{deadlineMs:1})).end));
  });
});
