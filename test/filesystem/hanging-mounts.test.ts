import { describe, expect, it } from 'vitest';
import { createHangingMountTest } from '../../src/filesystem/hanging-mounts.ts';

const TABLE = [
  '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw',
  '30 22 0:26 / /net rw,nosuid - nfs4 server:/x rw',
  '31 30 0:27 / /net/local\\040disk rw - ext4 /dev/vdb rw',
  '32 22 0:28 / /home/me/cloud rw - fuse.rclone cloud rw',
  '33 22 0:29 / /covered rw - nfs server:/y rw',
  '34 33 0:30 / /covered rw - tmpfs tmpfs rw',
  '',
].join('\n');

describe('createHangingMountTest()', () => {
  it.each([
    ['/', false],
    ['/etc', false],
    ['/net', true],
    ['/net/a/b', true],
    ['/network', false],
    ['/net/local disk/a', false],
    ['/home/me/cloud/a', true],
    ['/covered/a', false],
  ])('says of %s: %s', (path, expected) => {
    expect(createHangingMountTest(TABLE)(path)).toBe(expected);
  });

  it('reads the table of this host', () => {
    expect(createHangingMountTest()('/proc')).toBe(false);
  });
});
