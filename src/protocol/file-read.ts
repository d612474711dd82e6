// The one filesystem outcome that may be shortened to fit a frame: the content of a successful files_read.

import { sha256Hex } from './digest.ts';
import { cutToEncodedBytes } from './shorten.ts';

export interface FileReadOutcome {
  tool: 'files_read';
  ok: true;
  encoding: 'utf8' | 'base64' | 'latin1' | 'hex';
  content: string;
  [field: string]: unknown;
}

/** Characters that stand for whole bytes together: a cut elsewhere would end in half a byte. */
const GROUP_CHARACTERS = { utf8: 1, latin1: 1, hex: 2, base64: 4 } as const;
const CONTENT_HASH_CHARACTERS = 16;
/** Stands in for `returnedBytes` while its digits are counted: no content of a frame is longer. */
const WIDEST_RETURNED_BYTES = 9_999_999;

export function isFileRead(outcome: unknown): outcome is FileReadOutcome {
  if (typeof outcome !== 'object' || outcome === null) return false;
  // A record of any object: the fields are checked one by one below.
  const { tool, ok, content, encoding } = outcome as Record<string, unknown>;
  const isKnownEncoding = typeof encoding === 'string' && Object.hasOwn(GROUP_CHARACTERS, encoding);
  return tool === 'files_read' && ok === true && typeof content === 'string' && isKnownEncoding;
}

/**
 * The outcome with as much content as its JSON of `maxBytes` takes, flagged, without the fingerprint of the original, and
 * with the hash of what is left. The original next offset is gone: it would skip what was cut. Undefined when the rest
 * alone does not fit.
 */
export function shortenFileRead(outcome: FileReadOutcome, maxBytes: number): FileReadOutcome | undefined {
  const { resultFingerprint: _dropped, ...kept } = outcome;
  const bare: FileReadOutcome = {
    ...kept,
    tool: outcome.tool,
    ok: outcome.ok,
    encoding: outcome.encoding,
    content: '',
    returnedBytes: WIDEST_RETURNED_BYTES,
    contentHash: '0'.repeat(CONTENT_HASH_CHARACTERS),
    truncated: true,
    nextOffsetBytes: null,
    incomplete: true,
    transportTruncated: true,
  };
  const roomBytes = maxBytes - Buffer.byteLength(JSON.stringify(bare));
  if (roomBytes < 0) return undefined;
  const longest = cutToEncodedBytes(outcome.content, roomBytes);
  const group = GROUP_CHARACTERS[outcome.encoding];
  const content = longest.slice(0, longest.length - (longest.length % group));
  const bytes = Buffer.from(content, outcome.encoding);
  const contentHash = sha256Hex(bytes).slice(0, CONTENT_HASH_CHARACTERS);
  return { ...bare, content, returnedBytes: bytes.length, contentHash };
}
