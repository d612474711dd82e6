// Between an entry and its line: how an outcome goes to disk and comes back.
import type { Clock } from '../../../support/clock.ts';
import { releaseBytes } from '../../../support/release-bytes.ts';
import type { Entry } from '../entry-index.ts';
import { decodeRecord, encodeRecord } from './record-line.ts';

/** The line with the entry's end on today's wall clock, which may have been set since the operation ended. */
export function encodeEntry(entry: Entry, result: string | Buffer, clock: Clock): Buffer {
  const expiresAtMs = Math.round(clock.wallMs() + entry.expiresAtMonotonicMs - clock.monotonicMs());
  return encodeRecord({ id: entry.id, requestDigest: entry.requestDigest, expiresAtMs }, result);
}

/** The outcome's JSON text as it is at hand; undefined when its bytes on disk are no longer those that were written. */
export async function readResult(entry: Entry): Promise<string | Buffer | undefined> {
  const { text, location } = entry;
  if (text !== undefined || location === undefined) return text;
  const line = await location.segment.read(location.offsetBytes, location.lengthBytes);
  const record = line === undefined ? undefined : decodeRecord(line);
  return record?.id === entry.id ? record.result : undefined;
}

/** The same as text. The line it was read from is freed: a peer may ask for many large outcomes in a row. */
export async function readText(entry: Entry): Promise<string | undefined> {
  const result = await readResult(entry);
  const text = result?.toString();
  if (Buffer.isBuffer(result)) releaseBytes(Buffer.from(result.buffer));
  return text;
}
