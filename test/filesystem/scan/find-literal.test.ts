import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLiteral, type Occurrence } from '../../../src/filesystem/scan/find-literal.ts';
import { temporaryDirectory } from '../call-tool.ts';

const BLOCK_BYTES = 1024 * 1024;

async function find(content: Buffer, literal: string): Promise<Occurrence> {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, content);
  const handle = await open(path);
  try {
    return await findLiteral(handle, Buffer.from(literal), new AbortController().signal);
  } finally {
    await handle.close();
  }
}

describe('findLiteral()', () => {
  it('finds the one place on either side of and across the end of a block', async () => {
    for (let offsetBytes = BLOCK_BYTES - 8; offsetBytes <= BLOCK_BYTES + 8; offsetBytes += 1) {
      const content = Buffer.alloc(BLOCK_BYTES + 100, '.');
      content.write('needle', offsetBytes);

      expect(await find(content, 'needle')).toEqual({ status: 'once', offsetBytes });
    }
  });

  it('notices a second place that overlaps the first across the end of a block', async () => {
    for (let offsetBytes = BLOCK_BYTES - 5; offsetBytes <= BLOCK_BYTES + 5; offsetBytes += 1) {
      const content = Buffer.alloc(BLOCK_BYTES + 100, '.');
      content.write('ababa', offsetBytes);

      expect(await find(content, 'aba')).toEqual({ status: 'more' });
      expect(await find(content, 'ababa')).toEqual({ status: 'once', offsetBytes });
      expect(await find(content, 'abab.')).toEqual({ status: 'none' });
    }
  });

  it('stops when it is cancelled', async () => {
    const path = join(temporaryDirectory(), 'file');
    writeFileSync(path, 'x');
    const handle = await open(path);

    await expect(findLiteral(handle, Buffer.from('x'), AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });

    await handle.close();
  });
});
