// One outcome as one line of JSON, the same in the log and in operations.json:
//   {"crc32":"0a1b2c3d","id":"…","requestDigest":"…","expiresAt":1767225600000,"result":{…}}
// The checksum covers every byte after its own field. `result` is last, so that a line is read without parsing it:
// the raw bytes `,"result":` cannot occur inside the JSON strings before it (a quote in a string is escaped).
import { crc32 } from 'node:zlib';

export const RECORD_START = '{"crc32":"';
const CHECKED_FROM = RECORD_START.length + 8 + '",'.length;
const RESULT_MARK = ',"result":';

export interface RecordFields {
  id: string;
  requestDigest: string;
  /** Milliseconds since the Unix epoch. */
  expiresAtMs: number;
}

export interface RecordLine extends RecordFields {
  /** The outcome's JSON text, as the bytes within the line. */
  result: Buffer;
}

/** The line without its newline. `result` is JSON text without raw newlines, as JSON.stringify gives it. */
export function encodeRecord(fields: RecordFields, result: string | Buffer): Buffer {
  const names = `"id":${JSON.stringify(fields.id)},"requestDigest":${JSON.stringify(fields.requestDigest)}`;
  const head = `${RECORD_START}00000000",${names},"expiresAt":${fields.expiresAtMs}${RESULT_MARK}`;
  const line =
    typeof result === 'string'
      ? Buffer.from(`${head}${result}}`)
      : Buffer.concat([Buffer.from(head), result, Buffer.from('}')]);
  line.write(checksum(line), RECORD_START.length, 'latin1');
  return line;
}

/** The fields of a whole, undamaged line without its newline; undefined for anything else. */
export function decodeRecord(line: Buffer): RecordLine | undefined {
  if (line.length <= CHECKED_FROM || line.at(-1) !== 0x7d) return undefined;
  if (line.toString('latin1', 0, RECORD_START.length) !== RECORD_START) return undefined;
  if (line.toString('latin1', RECORD_START.length, CHECKED_FROM) !== `${checksum(line)}",`) return undefined;
  const resultAt = line.indexOf(RESULT_MARK);
  if (resultAt < 0) return undefined;
  const fields = parseHead(`{${line.toString('utf8', CHECKED_FROM, resultAt)}}`);
  if (fields === undefined) return undefined;
  return { ...fields, result: line.subarray(resultAt + RESULT_MARK.length, line.length - 1) };
}

/** Fields out of a JSON object that was written by us or by an older installation; undefined when one is missing. */
export function readFields(value: unknown): RecordFields | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, requestDigest, expiresAt } = value as Record<string, unknown>; // any object may be asked for any key
  if (typeof id !== 'string' || typeof requestDigest !== 'string') return undefined;
  const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt;
  if (typeof expiresAtMs !== 'number' || !Number.isFinite(expiresAtMs)) return undefined;
  return { id, requestDigest, expiresAtMs };
}

function parseHead(json: string): RecordFields | undefined {
  try {
    return readFields(JSON.parse(json));
  } catch {
    return undefined; // The checksum fits but the head is not JSON: not a line of ours.
  }
}

function checksum(line: Buffer): string {
  return crc32(line.subarray(CHECKED_FROM)).toString(16).padStart(8, '0');
}
