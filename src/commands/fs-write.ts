// `burrow fs write`: a file's whole content from stdin, atomically. The wire carries text, so bytes that are not UTF-8 are
// refused before anything is written.

import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import { formatSizeBytes } from '../support/durations.ts';
import type { Command } from './command.ts';
import { pathArgument, printable, runFileTool, TOOL_FLAGS } from './fs-tool.ts';
import { EXIT, type System } from './system.ts';

/** The whole content is held in memory a few times on its way. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

const WriteSchema = v.looseObject({ filePath: v.string(), created: v.boolean(), bytesWritten: v.number() });

export const fsWriteCommand: Command = {
  meta: { name: 'write', description: 'Replace a file as a whole, or make it, with the text from stdin' },
  args: {
    file: { type: 'positional', description: 'The file; missing directories are made', valueHint: 'FILE' },
    content: { type: 'string', valueHint: 'S', mayBeEmpty: true, description: 'Write S instead of stdin' },
    ...TOOL_FLAGS,
  },
  examples: [
    { command: 'burrow fs write /srv/app/config.json < config.json', does: 'put a file there at once' },
    { command: "burrow fs write note.txt --content 'on hold'", does: 'write a short text' },
  ],
  async run(call) {
    const { content } = call.flags;
    const given: Content =
      typeof content === 'string' ? { status: 'text', text: content } : await readText(call.system);
    if (given.status === 'refused') {
      call.system.stderr.write(`burrow: Content on stdin ${given.reason}: nothing was written\n`);
      return EXIT.failed;
    }
    return runFileTool(call, {
      tool: 'files_write',
      arguments: { filePath: pathArgument(call, call.positionals[0]), content: given.text },
      schema: WriteSchema,
      show: ({ filePath, created, bytesWritten }) =>
        `${created ? 'Created' : 'Replaced'} ${printable(call.system, filePath)}: ${formatSizeBytes(bytesWritten)}\n`,
    });
  },
};

type Content = { status: 'text'; text: string } | { status: 'refused'; reason: string };

async function readText({ stdin }: System): Promise<Content> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_CONTENT_BYTES)
      return { status: 'refused', reason: `is over the limit of ${formatSizeBytes(MAX_CONTENT_BYTES)}` };
    chunks.push(chunk);
  }
  const content = Buffer.concat(chunks, sizeBytes);
  return isUtf8(content)
    ? { status: 'text', text: content.toString() }
    : { status: 'refused', reason: 'is not UTF-8 text, and the protocol carries text only (encode it)' };
}
