// files_read: a page of a file, costing what the page costs however large the file is.
// Text pages end on a character boundary, so that following `nextOffsetBytes` joins to the exact file.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import * as v from 'valibot';
import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { bound, OffsetSchema, PathSchema, WorkspaceRootSchema } from './arguments.ts';
import { openRegular } from './open-regular.ts';
import { LOOKAHEAD_BYTES, pageLength, startsInsideCharacter } from './page.ts';
import { defineTool, resolvePath, type ToolAnswer, type ToolContext } from './tool.ts';

const DEFAULT_READ_BYTES = 512_000;
/** No answer holds more than a frame, so no read does. */
const MAX_READ_BYTES = MAX_FRAME_BYTES;

/** Offered beside the contract's names because models write them. */
const ENCODING_ALIASES: Readonly<Record<string, string>> = { 'utf-8': 'utf8' };

const EncodingSchema = v.pipe(
  v.nullish(v.string('Give an encoding as a string'), ''),
  v.transform((given) => ENCODING_ALIASES[given.toLowerCase()] ?? (given.toLowerCase() || 'utf8')),
  v.picklist(['utf8', 'base64', 'latin1', 'hex'], 'Use utf8, base64, latin1 or hex'),
);

const ReadSchema = v.object({
  filePath: PathSchema,
  offsetBytes: v.optional(OffsetSchema, 0),
  maxBytes: v.optional(bound(DEFAULT_READ_BYTES, MAX_READ_BYTES), DEFAULT_READ_BYTES),
  encoding: v.optional(EncodingSchema, 'utf8'),
  workspaceRoot: v.optional(WorkspaceRootSchema, null),
});

type ReadArguments = v.InferOutput<typeof ReadSchema>;

export const filesRead = defineTool('filePath', ReadSchema, readPage);

async function readPage(asked: ReadArguments, context: ToolContext): Promise<ToolAnswer> {
  const filePath = resolvePath(context, asked.filePath);
  const { handle, stats } = await openRegular(filePath);
  try {
    const lookahead = asked.encoding === 'utf8' ? LOOKAHEAD_BYTES : 1;
    const wantedBytes = asked.maxBytes + lookahead;
    // A size of 0 is also what /proc says of files that hold something; those are read without knowing how much comes.
    const leftBytes = stats.size === 0 ? wantedBytes : Math.max(0, stats.size - asked.offsetBytes);
    const bytes = await readUpTo(handle, asked.offsetBytes, Math.min(wantedBytes, leftBytes));
    context.signal.throwIfAborted();
    return describePage(asked, bytes, { filePath, bytes: stats.size, modifiedAt: stats.mtime.toISOString() });
  } finally {
    await handle.close();
  }
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
    contentHash: createHash('sha256').update(page).digest('hex').slice(0, 16),
    truncated: truncated && length > 0,
    nextOffsetBytes: truncated && length > 0 ? nextOffsetBytes : null,
    content: page.toString(encoding),
  };
  return { fields, warnings: pageWarnings(asked, page) };
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
