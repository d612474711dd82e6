// files_read: a page of a file, costing what the page costs however large the file is.
// Text pages end on a character boundary, so that following `nextOffsetBytes` joins to the exact file.

import { hash } from 'node:crypto';
import { readSync, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as v from 'valibot';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { argumentsObject, bound, OffsetSchema, PathSchema, WorkspaceRootSchema } from './arguments.ts';
import { resolveFilePath } from './file-path.ts';
import { openRegular, useRegularOnDisk } from './open-regular.ts';
import { LOOKAHEAD_BYTES, pageLength, startsInsideCharacter } from './page.ts';
import { defineTool, type ToolAnswer, type ToolContext } from './tool.ts';

const DEFAULT_READ_BYTES = 512_000;
/** No answer holds more than a frame, so no read does. */
const MAX_READ_BYTES = MAX_FRAME_BYTES;

/** Up to this much is read with a synchronous call: even a slow disk gives it in a few milliseconds. */
const MAX_DIRECT_READ_BYTES = 512 * 1024;

/** Offered beside the contract's names because models write them. */
const ENCODING_ALIASES: Readonly<Record<string, string>> = { 'utf-8': 'utf8' };

const EncodingSchema = v.pipe(
  v.nullish(v.string('Give an encoding as a string'), ''),
  v.transform((given) => ENCODING_ALIASES[given.toLowerCase()] ?? (given.toLowerCase() || 'utf8')),
  v.picklist(['utf8', 'base64', 'latin1', 'hex'], 'Use utf8, base64, latin1 or hex'),
);

const ReadSchema = argumentsObject({
  filePath: PathSchema,
  offsetBytes: v.optional(OffsetSchema, 0),
  maxBytes: v.optional(bound(DEFAULT_READ_BYTES, MAX_READ_BYTES), DEFAULT_READ_BYTES),
  encoding: v.optional(EncodingSchema, 'utf8'),
  workspaceRoot: v.optional(WorkspaceRootSchema, null),
});

type ReadArguments = v.InferOutput<typeof ReadSchema>;

export const filesRead = defineTool('filePath', ReadSchema, readPage);

async function readPage(asked: ReadArguments, context: ToolContext): Promise<ToolAnswer> {
  const filePath = await resolveFilePath(context, asked.filePath, { isMade: false });
  const { bytes, stats } = (await readFromDisk(filePath, asked)) ?? (await readThroughPool(filePath, asked));
  context.signal.throwIfAborted();
  return describePage(asked, bytes, { filePath, bytes: stats.size, modifiedAt: stats.mtime.toISOString() });
}

interface PageRead {
  bytes: Buffer;
  stats: Stats;
}

async function readFromDisk(path: string, asked: ReadArguments): Promise<PageRead | undefined> {
  if (asked.maxBytes > MAX_DIRECT_READ_BYTES) return undefined;
  return useRegularOnDisk(path, (fd, stats) => {
    const bytes = Buffer.allocUnsafe(lengthToRead(asked, stats));
    let filled = 0;
    while (filled < bytes.length) {
      const count = readSync(fd, bytes, filled, bytes.length - filled, asked.offsetBytes + filled);
      if (count === 0) break;
      filled += count;
    }
    return { bytes: bytes.subarray(0, filled), stats };
  });
}

async function readThroughPool(path: string, asked: ReadArguments): Promise<PageRead> {
  const { handle, stats } = await openRegular(path);
  try {
    return { bytes: await readUpTo(handle, asked.offsetBytes, lengthToRead(asked, stats)), stats };
  } finally {
    await handle.close();
  }
}

/** The page and the bytes looked at behind it, as far as the file has them. */
function lengthToRead(asked: ReadArguments, stats: Stats): number {
  const wantedBytes = asked.maxBytes + LOOKAHEAD_BYTES;
  // A size of 0 is also what /proc says of files that hold something; those are read without knowing how much comes.
  return Math.min(wantedBytes, stats.size === 0 ? wantedBytes : Math.max(0, stats.size - asked.offsetBytes));
}

async function readUpTo(handle: FileHandle, offsetBytes: number, lengthBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(lengthBytes);
  let filled = 0;
  while (filled < lengthBytes) {
    const { bytesRead } = await handle.read(bytes, filled, lengthBytes - filled, offsetBytes + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function describePage(
  asked: ReadArguments,
  bytes: Buffer,
  file: { filePath: string; bytes: number; modifiedAt: string },
): ToolAnswer {
  const { offsetBytes, encoding } = asked;
  const length =
    encoding === 'utf8' ? pageLength(bytes, asked.maxBytes) : Math.min(bytes.length, asked.maxBytes);
  const page = bytes.subarray(0, length);
  const nextOffsetBytes = offsetBytes + length;
  const truncated = length < bytes.length || nextOffsetBytes < file.bytes;
  const fields = {
    filePath: file.filePath,
    workspaceRoot: asked.workspaceRoot,
    encoding,
    bytes: file.bytes,
    modifiedAt: file.modifiedAt,
    offsetBytes,
    returnedBytes: length,
    contentHash: hash('sha256', page, 'hex').slice(0, 16),
    truncated: truncated && length > 0,
    nextOffsetBytes: truncated && length > 0 ? nextOffsetBytes : null,
    content: page.toString(encoding),
  };
  const warnings = pageWarnings(asked, page);
  if (encoding !== 'base64' && encoding !== 'hex') return { fields, warnings };
  // Their alphabets hold nothing that JSON escapes.
  return { fields, encoded: { name: 'content', json: `"${fields.content}"` }, warnings };
}

function pageWarnings(asked: ReadArguments, page: Buffer): string[] {
  const warnings: string[] = [];
  if (page.length > asked.maxBytes) {
    warnings.push(`Character at offset ${asked.offsetBytes} is longer than maxBytes: it was returned whole`);
  }
  if (asked.encoding === 'utf8' && asked.offsetBytes > 0 && startsInsideCharacter(page)) {
    warnings.push(`Offset ${asked.offsetBytes} lies inside a character: its rest reads as U+FFFD`);
  }
  return warnings;
}
