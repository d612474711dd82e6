// Which mounts can keep a system call waiting without end: network file systems and those served by a program. Everywhere
// else walks and searches use synchronous calls, which cost a fraction of a hop to the thread pool; here they must not, or
// one dead file server would stop the daemon.

import { readFileSync } from 'node:fs';

const HANGING_TYPES =
  /^(?:nfs\d?|cifs|smb\w*|9p|ceph|lustre|gfs2?|ocfs2|afs|coda|glusterfs|autofs|beegfs|virtiofs|fuse(?:\..*|blk)?)$/;

/**
 * A test for absolute paths: does it lie on such a mount? Asks the kernel's own table once, which never waits. `mountInfo`
 * has the form of /proc/self/mountinfo (proc_pid_mountinfo(5)); without it every path counts as able to hang.
 */
export function createHangingMountTest(mountInfo = readMountInfo()): (path: string) => boolean {
  if (mountInfo === undefined) return () => true;
  const mounts = parseMounts(mountInfo);
  if (!mounts.some((mount) => mount.canHang)) return () => false;
  return (path) => {
    let best: Mount | undefined;
    for (const mount of mounts) {
      // A later line of the table covers an earlier one on the same directory.
      if (isWithin(path, mount.point) && mount.point.length >= (best?.point.length ?? 0)) best = mount;
    }
    return best?.canHang ?? true;
  };
}

interface Mount {
  point: string;
  canHang: boolean;
}

function parseMounts(mountInfo: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of mountInfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ', 2);
    const point = left.split(' ')[4];
    if (point === undefined) continue;
    mounts.push({ point: unescapeOctal(point), canHang: HANGING_TYPES.test(right.split(' ')[0] ?? '') });
  }
  return mounts;
}

/** Blanks, tabs, line feeds and backslashes stand as \040 and the like. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

function readMountInfo(): string | undefined {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    // No /proc: nothing is known, so nothing is trusted.
    return undefined;
  }
}
