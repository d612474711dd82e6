import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWarmNode, type WarmNode, type WarmOptions } from '../../src/octonode/octonode.ts';
import { options, scripted, until } from './nodes.ts';

const nodes: WarmNode[] = [];

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

function open(steps: string[], more: Partial<WarmOptions> = {}): WarmNode {
  const node = createWarmNode(scripted(...steps), { ...options(), ...more });
  nodes.push(node);
  return node;
}

describe('createWarmNode()', () => {
  it('has the start-up behind it when the call comes', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'octonode-warm-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const started = join(directory, 'started');
    const node = open(['sleep:400', `touch:${started}`, 'read', 'answer']);
    await until(() => existsSync(started));
    const startedAt = performance.now();

    expect(await node.invoke({})).toMatchObject({ status: 'ok' });
    expect(performance.now() - startedAt).toBeLessThan(300);
  });

  it('gives each call a process of its own', async () => {
    const node = open(['read', 'answer', 'read', 'answer']);

    for (let call = 0; call < 5; call += 1) expect(await node.invoke({})).toMatchObject({ status: 'ok' });
  });

  it('starts a process for a call that finds none waiting', async () => {
    const node = open(['read', 'sleep:50', 'answer'], { processes: 1 });

    expect((await Promise.all([1, 2, 3].map(() => node.invoke({})))).map(({ status }) => status)).toEqual([
      'ok',
      'ok',
      'ok',
    ]);
  });

  it('keeps as many waiting as it was told', async () => {
    const node = open(['read', 'answer'], { processes: 3 });
    await node.invoke({});
    await until(() => node.waiting === 3);

    expect(node.waiting).toBe(3);
  });

  it('replaces one that dies waiting, but not for ever, and still answers', async () => {
    const node = open(['exit:1']);
    await until(() => node.waiting === 0);

    expect(await node.invoke({})).toMatchObject({ status: 'error', error: { code: 'RUNTIME_ERROR' } });
  });

  it('does not use one that printed before it was asked', async () => {
    const node = open(['print:hello\n', 'read', 'answer']);
    await until(() => node.waiting === 1);

    expect(await node.invoke({})).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('text before') },
    });
  });

  it('ends what waits when nobody calls, and starts again', async () => {
    const node = open(['read', 'answer'], { idleMs: 30 });
    await until(() => node.waiting === 0);

    expect(await node.invoke({})).toMatchObject({ status: 'ok' });
  });

  it('lets running calls end on close and refuses new ones', async () => {
    const node = open(['read', 'sleep:100', 'answer']);
    const call = node.invoke({});
    const closed = node.close();

    expect(await node.invoke({})).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('closed') },
    });
    await closed;
    expect(await call).toMatchObject({ status: 'ok' });
  });

  it('times out like any call', async () => {
    const node = open(['read', 'sleep:60000']);

    expect(await node.invoke({}, { timeoutMs: 100 })).toMatchObject({
      status: 'error',
      error: { code: 'TIMEOUT' },
    });
  });
});
