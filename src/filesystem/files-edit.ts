// files_edit: replaces the one place where a text occurs. It works on bytes, block by block: whatever else is in the file
// (a byte-order mark, mixed line ends, bytes that are not UTF-8, no final line feed) stays as it is, and the memory does
// not depend on the file's size.
//
// Line ends: the text is looked for as given. Only when it does not occur and holds bare line feeds, it is looked for with
// CRLF instead; then the new text's bare line feeds become CRLF too, as the lines around it have them.

import type { Stats } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import * as v from 'valibot';
import { BurrowError } from '../protocol/errors.ts';
import { argumentsObject, FileTextSchema, PathSchema } from './arguments.ts';
import { errnoError } from './errno.ts';
import { resolveFilePath } from './file-path.ts';
import { type OpenFile, openRegular } from './open-regular.ts';
import { replaceFile, writeFully } from './replace/replace.ts';
import { resolveWritePath, writableStats } from './replace/write-target.ts';
import { findLiteral } from './scan/find-literal.ts';
import { defineTool, type ToolAnswer, type ToolContext } from './tool.ts';

const BLOCK_BYTES = 1024 * 1024;

const EditSchema = argumentsObject({
  filePath: PathSchema,
  oldText: v.pipe(FileTextSchema, v.nonEmpty('It must not be empty: an empty text is nowhere in particular')),
  newText: FileTextSchema,
});

interface Edit {
  offsetBytes: number;
  oldBytes: Buffer;
  newBytes: Buffer;
}

export const filesEdit = defineTool('filePath', EditSchema, edit);

async function edit(asked: v.InferOutput<typeof EditSchema>, context: ToolContext): Promise<ToolAnswer> {
  const filePath = await resolveFilePath(context, asked.filePath, { isMade: false });
  const path = await resolveWritePath(filePath, false);
  return context.writes.exclusive(path, context.signal, async () => {
    const file = await openRegular(path);
    try {
      const found = await locate(file.handle, asked, context.signal);
      const warnings = await applyEdit(path, file, found, context);
      return { fields: { filePath, replaced: 1, changedFiles: [filePath] }, warnings };
    } finally {
      await file.handle.close();
    }
  });
}

/** Throws `old_text_not_found` and `old_text_not_unique`. */
async function locate(
  handle: FileHandle,
  asked: { oldText: string; newText: string },
  signal: AbortSignal,
): Promise<Edit> {
  const forms = [asked, { oldText: toCrlf(asked.oldText), newText: toCrlf(asked.newText) }];
  for (const form of forms) {
    if (form !== asked && form.oldText === asked.oldText) break;
    const oldBytes = Buffer.from(form.oldText);
    const found = await findLiteral(handle, oldBytes, signal);
    if (found.status === 'more') throw new BurrowError('old_text_not_unique');
    if (found.status === 'once') {
      return { offsetBytes: found.offsetBytes, oldBytes, newBytes: Buffer.from(form.newText) };
    }
  }
  throw new BurrowError('old_text_not_found');
}

function toCrlf(text: string): string {
  return text.replace(/(?<!\r)\n/g, '\r\n');
}

async function applyEdit(path: string, file: OpenFile, found: Edit, context: ToolContext): Promise<string[]> {
  const { signal, writes } = context;
  const { handle, stats } = file;
  return replaceFile(writes, {
    path,
    before: await writableStats(path),
    signal,
    async fill(target) {
      await copyRange(handle, target, { from: 0, to: found.offsetBytes, signal });
      await writeFully(target, found.newBytes);
      await copyRange(handle, target, {
        from: found.offsetBytes + found.oldBytes.length,
        to: stats.size,
        signal,
      });
    },
    confirm: () => refuseIfChanged(path, stats),
  });
}

async function copyRange(
  source: FileHandle,
  target: FileHandle,
  { from, to, signal }: { from: number; to: number; signal: AbortSignal },
): Promise<void> {
  const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(0, to - from)));
  for (let at = from; at < to; ) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(block, 0, Math.min(block.length, to - at), at);
    if (bytesRead === 0) throw changedMeanwhile();
    await writeFully(target, block.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Another program's write between our reading and our rename would be lost without a word. */
async function refuseIfChanged(path: string, read: Stats): Promise<void> {
  const now = await stat(path);
  const isSame =
    now.ino === read.ino && now.dev === read.dev && now.size === read.size && now.mtimeMs === read.mtimeMs;
  if (!isSame) throw changedMeanwhile();
}

function changedMeanwhile(): Error {
  return errnoError(
    'EBUSY',
    'The file was changed by another program during the edit; read it again (EBUSY)',
  );
}
