import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { createMask } from '../../../src/octonode/flow/flow.ts';
import { directory, run, stepNodes } from './flows.ts';

afterAll(() => rmSync(directory, { recursive: true }));

const failure = {
  code: 'RUNTIME_ERROR' as const,
  message: 'Cannot open ab',
  retryable: true,
  details: { exitCode: 3, signal: null, stderrTail: 'ab', errors: [{ path: '/ab', message: 'ab' }] },
  stack: 'at ab',
};

describe('createMask()', () => {
  it.each(['code', 'true', 'message', 'RUNTIME_ERROR', 'R', 'e', 'retryable', 'details', 'errors', 'path'])(
    'keeps names and codes that burrow fixed in a failure, with the secret %j',
    (secret) => {
      const masked = createMask([secret]).failure(failure);

      expect(masked).toMatchObject({ code: 'RUNTIME_ERROR', retryable: true });
      expect(Object.keys(masked)).toEqual(Object.keys(failure));
      expect(Object.keys(masked.details as object)).toEqual(Object.keys(failure.details));
      expect(masked.details).toMatchObject({
        errors: [{ path: expect.any(String), message: expect.any(String) }],
      });
    },
  );

  it('masks every text of a failure, and names that the node made up', () => {
    const details = { ab: 1, deep: { message: { ab: 'ab' } } };

    expect(createMask(['ab']).failure({ ...failure, details, note: 'ab', ab: 2 })).toEqual({
      code: 'RUNTIME_ERROR',
      message: 'Cannot open [redacted]',
      retryable: true,
      details: { '[redacted]': 1, deep: { message: { '[redacted]': '[redacted]' } } },
      stack: 'at [redacted]',
      note: '[redacted]',
      '[redacted]': 2,
    });
  });

  it('masks such names below the places where burrow writes them', () => {
    const details = { deep: { signal: 'x' } };

    expect(createMask(['signal']).failure({ ...failure, details })).toMatchObject({
      details: { deep: { '[redacted]': 'x' } },
    });
  });

  it('keeps code and message beside details that are nested too deeply to be walked', () => {
    const details: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);

    expect(createMask(['x']).failure({ ...failure, details })).toMatchObject({
      code: 'RUNTIME_ERROR',
      message: 'Cannot open ab',
      details: '[redacted]',
    });
  });

  it('masks keys of outputs', () => {
    expect(createMask(['code']).value({ code: 1, other: ['my code'] })).toEqual({
      '[redacted]': 1,
      other: ['my [redacted]'],
    });
  });
});

describe('runFlow()', () => {
  it.each(['code', 'true', 'R'])(
    'tells code and retryable in events and record with the secret %j',
    async (secret) => {
      const content = {
        environments: { prod: { secrets: ['API_KEY'] } },
        nodes: stepNodes(['a'], { retries: 1, retry_backoff_ms: 1 }),
        workflows: [{ id: 'w', nodes: ['a'], bindings: { a: { failures: 2 } } }],
      };

      const { record, events } = await run(content, { env: { API_KEY: secret } }, 'prod');

      const error = { code: 'RUNTIME_ERROR', retryable: true, message: expect.any(String) };
      expect(record.nodes[0]).toMatchObject({ status: 'error', attempts: 2, error });
      expect(events.filter((event) => 'error' in event)).toMatchObject([
        { event: 'node.retry', error },
        { event: 'node.ended', error },
      ]);
    },
  );
});
