import { describe, expect, it } from 'vitest';
import { releaseBytes } from '../../src/support/release-bytes.ts';

describe('releaseBytes()', () => {
  it('frees a chunk that owns its memory and leaves a shared one alone', () => {
    const own = Buffer.alloc(64 * 1024);
    const shared = Buffer.alloc(128 * 1024).subarray(0, 64 * 1024);
    releaseBytes(own);
    releaseBytes(shared);
    expect([own.length, shared.length]).toEqual([0, 64 * 1024]);
  });
});
