// Opens one file of a search and feeds it to the scanner. Local files are read with synchronous calls: the three hops per
// file to the thread pool would cost five times the search itself. On a mount that can hang (a network file system whose
// server is gone) every call goes through the pool, so that the daemon stays awake.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Slices } from '../slices.ts';
import type { Location } from '../walk/read-directory.ts';
import type { LineMatch, LineScanner } from './line-scanner.ts';

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

interface FileSearch {
  location: Location;
  scanner: LineScanner;
  slices: Slices;
  /** Returns false to stop. */
  onMatch: (match: LineMatch) => boolean;
}

/** Throws the errno of the call that failed. What is no regular file any more has no matches. */
export function searchFile(search: FileSearch, mountCanHang: boolean): Promise<void> {
  return mountCanHang ? searchThroughPool(search) : searchDirectly(search);
}

async function searchDirectly({ location, scanner, slices, onMatch }: FileSearch): Promise<void> {
  const fd = openSync(location, OPEN_FLAGS);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return;
    const source = {
      read: (into: Buffer, offset: number, lengthBytes: number) =>
        readSync(fd, into, offset, lengthBytes, null),
      pass: slices.pass,
    };
    await scanner.scan(source, onMatch);
  } finally {
    closeSync(fd);
  }
}

async function searchThroughPool({ location, scanner, slices, onMatch }: FileSearch): Promise<void> {
  const handle = await open(location, OPEN_FLAGS);
  try {
    if (!(await handle.stat()).isFile()) return;
    const source = {
      read: async (into: Buffer, offset: number, lengthBytes: number) =>
        (await handle.read(into, offset, lengthBytes, null)).bytesRead,
      pass: slices.pass,
    };
    await scanner.scan(source, onMatch);
  } finally {
    await handle.close();
  }
}
