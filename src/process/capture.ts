// What a process wrote, as text: decoded, counted against the cap of the operation, handed on part by part, and kept for
// the evidence. Promises well-formed text never longer than the cap, true byte totals, and bounded memory: of each stream
// only as much is kept as one frame could carry. Past the cap everything is counted and thrown away.

import { MAX_FRAME_BYTES } from '../protocol/defaults.ts';
import { sha256Hex } from '../protocol/digest.ts';
import { releaseBytes } from '../support/release-bytes.ts';
import { clipUtf8 } from '../support/utf8.ts';
import type { OutputStream } from './launcher.ts';
import { createStreamDecoder, type DecodedText, decodedText } from './text-decoder.ts';
import { createTextStore } from './text-store.ts';

/**
 * Changes bytes between the pipe and the decoder (redaction). May hold some back, as a copy, until it has seen more; what it
 * answers may lie in the chunk.
 */
export interface ByteFilter {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

export interface CaptureOptions {
  /** Cap on the delivered UTF-8 of both streams together. */
  maxOutputBytes: number;
  createFilter: ((stream: OutputStream) => ByteFilter) | undefined;
}

export interface CaptureEvents {
  /** Never called with empty text, but for the one part that says `truncated` when nothing more fits. */
  onText(stream: OutputStream, text: DecodedText, truncated: boolean): void;
  /** Once, after the part that said `truncated`. */
  onOverflow(): void;
}

export interface CapturedStream {
  text: string;
  /** sha256 hex of `text`. */
  digest: string;
  /** All that was read from the pipe, delivered or not. */
  totalBytes: number;
  hasInvalidInput: boolean;
  /** More was delivered than is kept here. */
  isShortened: boolean;
}

export interface Capture {
  readonly hasOverflowed: boolean;
  push(stream: OutputStream, chunk: Buffer): void;
  /** The stream has ended; may be called again. */
  end(stream: OutputStream): void;
  read(stream: OutputStream): CapturedStream;
}

/** sha256 of nothing: most commands leave stderr empty. */
const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export function createCapture(options: CaptureOptions, events: CaptureEvents): Capture {
  return new OutputCapture(options, events);
}

class OutputCapture implements Capture {
  hasOverflowed = false;
  readonly #events: CaptureEvents;
  readonly #stdout: Track;
  readonly #stderr: Track;
  #remainingBytes: number;

  constructor({ maxOutputBytes, createFilter }: CaptureOptions, events: CaptureEvents) {
    this.#events = events;
    this.#remainingBytes = maxOutputBytes;
    this.#stdout = createTrack(createFilter?.('stdout'));
    this.#stderr = createTrack(createFilter?.('stderr'));
  }

  push(stream: OutputStream, chunk: Buffer): void {
    const track = this.#track(stream);
    track.totalBytes += chunk.length;
    if (this.hasOverflowed) {
      releaseBytes(chunk);
      return;
    }
    const decoded = track.decoder.push(track.filter === undefined ? chunk : track.filter.push(chunk));
    this.#deliver(stream, track, decoded);
    // Nothing keeps a view of the chunk: strings never do, and a filter copies what it holds back.
    releaseBytes(chunk);
  }

  end(stream: OutputStream): void {
    const track = this.#track(stream);
    if (track.hasEnded) return;
    track.hasEnded = true;
    if (track.filter !== undefined) this.#deliver(stream, track, track.decoder.push(track.filter.end()));
    this.#deliver(stream, track, track.decoder.end());
  }

  read(stream: OutputStream): CapturedStream {
    const { store, totalBytes, decoder } = this.#track(stream);
    const text = store.read();
    return {
      text,
      digest: text === '' ? EMPTY_DIGEST : sha256Hex(text),
      totalBytes,
      hasInvalidInput: decoder.hasInvalidInput,
      isShortened: store.isFull,
    };
  }

  #track(stream: OutputStream): Track {
    return stream === 'stdout' ? this.#stdout : this.#stderr;
  }

  #deliver(stream: OutputStream, track: Track, decoded: DecodedText): void {
    if (decoded.bytes === 0 || this.hasOverflowed) return;
    if (decoded.bytes <= this.#remainingBytes) {
      this.#remainingBytes -= decoded.bytes;
      track.store.append(decoded);
      this.#events.onText(stream, decoded, false);
      return;
    }
    this.hasOverflowed = true;
    const rest = decodedText(clipUtf8(decoded.text, this.#remainingBytes));
    track.store.append(rest);
    this.#events.onText(stream, rest, true);
    this.#events.onOverflow();
  }
}

interface Track {
  readonly filter: ByteFilter | undefined;
  readonly decoder: ReturnType<typeof createStreamDecoder>;
  readonly store: ReturnType<typeof createTextStore>;
  totalBytes: number;
  hasEnded: boolean;
}

function createTrack(filter: ByteFilter | undefined): Track {
  return {
    filter,
    decoder: createStreamDecoder(),
    store: createTextStore(MAX_FRAME_BYTES),
    totalBytes: 0,
    hasEnded: false,
  };
}
