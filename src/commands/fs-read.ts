// `burrow fs read`: the bytes of a file, exactly. The file is read page by page, each no larger than a frame carries whole,
// so a file of any size takes little memory.

import { once } from 'node:events';
import * as v from 'valibot';
import { type Call, type Command, UsageError } from './command.ts';
import {
  type FileTools,
  openFileTools,
  parseOutcome,
  pathArgument,
  reportFailure,
  reportWarnings,
  runFileTool,
  sizeArgument,
  TOOL_FLAGS,
} from './fs-tool.ts';
import { EXIT, type System } from './system.ts';
import { runOnTargets } from './target.ts';

/**
 * A multiple of three, so that pages of base64 join; as text it fits a frame even when each byte is escaped to six
 * characters. The gateway keeps the last 256 outcomes: larger pages would be that many times larger there.
 */
const PAGE_BYTES = 192 * 1024;
const ENCODINGS = ['utf8', 'base64', 'latin1', 'hex'];

const PageSchema = v.looseObject({
  bytes: v.number(),
  modifiedAt: v.string(),
  returnedBytes: v.number(),
  nextOffsetBytes: v.nullable(v.number()),
  content: v.string(),
  transportTruncated: v.optional(v.boolean()),
});

export const fsReadCommand: Command = {
  meta: { name: 'read', description: 'Print a file, byte for byte' },
  args: {
    file: { type: 'positional', description: 'The file', valueHint: 'FILE' },
    offset: { type: 'string', valueHint: 'N', description: 'Begin at this byte (default 0)' },
    max: { type: 'string', valueHint: 'N', description: 'Print at most this many bytes (default: all)' },
    encoding: {
      type: 'string',
      valueHint: 'E',
      choices: ENCODINGS,
      description: 'Print the content encoded: utf8, base64, latin1 or hex (default: the bytes themselves)',
    },
    ...TOOL_FLAGS,
  },
  examples: [
    { command: 'burrow fs read /var/log/syslog > copy', does: 'copy a file, whatever its bytes are' },
    {
      command: 'burrow fs read disk.img --offset 1GiB --max 64KiB --encoding hex',
      does: 'look at 64 KiB of a large file',
    },
  ],
  async run(call) {
    const asked = {
      filePath: pathArgument(call, call.positionals[0]),
      offsetBytes: sizeArgument(call.flags, 'offset') ?? 0,
      maxBytes: sizeArgument(call.flags, 'max'),
      encoding: encodingOf(call.flags),
    };
    if (call.flags['json'] === true) {
      return runFileTool(call, {
        tool: 'files_read',
        arguments: asked,
        schema: PageSchema,
        show: ({ content }) => content,
      });
    }
    return runOnTargets(call, async ({ system }, target) => {
      const tools = openFileTools(target, system);
      const status = await printPages(tools, asked, system);
      await tools.close();
      return status;
    });
  },
};

function encodingOf(flags: Call['flags']): string | undefined {
  const encoding = flags['encoding'];
  if (encoding === undefined) return undefined;
  if (typeof encoding === 'string' && ENCODINGS.includes(encoding)) return encoding;
  throw new UsageError(`Flag "--encoding" takes ${ENCODINGS.join(', ')}, not "${String(encoding)}"`);
}

interface ReadAsked {
  filePath: string;
  offsetBytes: number;
  maxBytes: number | undefined;
  /** Undefined: the bytes themselves, which travel as base64. */
  encoding: string | undefined;
}

async function printPages(tools: FileTools, asked: ReadAsked, system: System): Promise<number> {
  const { filePath, encoding = 'base64' } = asked;
  let offsetBytes = asked.offsetBytes;
  let leftBytes = asked.maxBytes ?? Number.POSITIVE_INFINITY;
  let version: string | undefined;
  while (leftBytes > 0) {
    const maxBytes = Math.min(PAGE_BYTES, leftBytes);
    const ended = await tools.call('files_read', { filePath, offsetBytes, maxBytes, encoding });
    if (ended.status === 'failed') return ended.exitStatus;
    if (!ended.outcome.ok) {
      reportFailure(ended.outcome, system);
      return ended.exitStatus;
    }
    const page = parseOutcome(PageSchema, ended.outcome);
    version ??= versionOf(page);
    if (version !== versionOf(page)) return say(system, 'File changed while it was read: start again');
    reportWarnings(ended.outcome, system);
    const content = asked.encoding === undefined ? Buffer.from(page.content, 'base64') : page.content;
    if (!(await write(system, content))) return EXIT.done;
    if (page.transportTruncated === true)
      return say(system, 'Page was shortened on its way: ask for a smaller part with --max');
    if (page.nextOffsetBytes === null) return EXIT.done;
    // It came too late for this page, and is not taken back.
    if (ended.interrupted !== undefined) return ended.interrupted;
    leftBytes -= page.returnedBytes;
    offsetBytes = page.nextOffsetBytes;
  }
  return EXIT.done;
}

/** Pages of two versions of a file must not be joined. Files without a size (/proc) have no version either. */
function versionOf({ bytes, modifiedAt }: { bytes: number; modifiedAt: string }): string {
  return bytes === 0 ? '' : `${bytes} ${modifiedAt}`;
}

/** False when nobody reads any more. */
async function write({ stdout }: System, content: Buffer | string): Promise<boolean> {
  if (!stdout.writable) return false;
  if (!stdout.write(content)) {
    const gone = new AbortController();
    await Promise.race([
      once(stdout, 'drain', { signal: gone.signal }),
      once(stdout, 'close', { signal: gone.signal }),
    ]).catch(() => undefined); // A failed write ends in "not writable" below.
    gone.abort();
  }
  return stdout.writable;
}

function say(system: System, text: string): number {
  system.stderr.write(`burrow: ${text}\n`);
  return EXIT.failed;
}
